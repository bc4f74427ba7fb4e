r"""The program of the measurement `poles_and_residues`.

The modes are the trapezoidal rule in log s of (1 + t)^-p = 1/Gamma(p) int s^{p-1} e^{-s} e^{-st} ds: decays s_i in a
geometric series and residues c_i > 0. Every residue being positive, the worst point of the ball |delta|_inf <= beta is
known:

- poles: every decay as large as its weight can make it, which is worse early, or as small, which is worse late; where
  one can become negative, that mode grows,
- residues: all up, beta sum_i e^{-s_i t},
- residues c = e^v: all up, (e^beta - 1) of the response itself, at every time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.special import gamma

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.kernel_fit import check_start
from stablessm.measurements.poles_and_residues import PolesAndResiduesSettings
from stablessm.parameterizations import ParameterizationError

_POINTS = 41  # of the interval in which a weight moves: its ends, and the middle, where an even map has its turn


def poles_and_residues(static: Mapping[str, Any], settings: PolesAndResiduesSettings) -> Program:
    """Program of `poles_and_residues`, in continuous time."""
    parameterization = static["parameterization"]
    if parameterization.link != "continuous":
        raise ParameterizationError(
            f"poles are moved in continuous time, but {parameterization.name!r} is under {parameterization.link!r}"
        )
    check_start(static.get("fillings", ((parameterization,),)), settings.slowest_decay, settings.fastest_decay)
    decays = np.geomspace(settings.slowest_decay, settings.fastest_decay, settings.width)
    spacing = np.log(settings.fastest_decay / settings.slowest_decay) / max(settings.width - 1, 1)
    residues = spacing * decays**settings.power * np.exp(-decays) / gamma(settings.power)
    times = np.append(0.0, np.geomspace(0.1, settings.longest_time, settings.times - 1))
    beta, width = settings.beta, settings.width

    def start_of(seed: Array) -> Array:
        """Corners of the ball, shape (repeats, modes): an argument, and no constant of the program."""
        return jax.random.rademacher(jax.random.key(seed), (settings.repeats, width), jnp.int8)

    def measure(traced: Mapping[str, Array], starts: Array, index: Array) -> Mapping[str, Array]:
        constants, dtype = constants_of(traced), jnp.result_type(float)
        s, c, t = (jnp.asarray(values, dtype) for values in (decays, residues, times))
        weight = parameterization.weight(s, **constants)
        s = parameterization.decay(weight, **constants)  # as the map rounds it

        def response(decay: Array) -> Array:
            return jnp.exp(-t[:, None] * decay) @ c

        def change(other: Array) -> Array:
            """Relative to the response, without the cancellation of two that are close."""
            moved = jnp.exp(-t[:, None] * s) * jnp.expm1(-t[:, None] * (other - s))
            return jnp.abs(moved @ c) / response(s)

        def moved_by(delta: Array) -> Array:
            return parameterization.decay(weight + delta, **constants)

        inside = jax.vmap(moved_by)(beta * jnp.linspace(-1, 1, _POINTS, dtype=dtype))
        sampled = jax.lax.map(lambda corner: change(moved_by(beta * corner.astype(dtype))), starts[index])
        worst = jnp.maximum(change(inside.min(0)), change(inside.max(0)))
        return {
            "kernel": response(s),
            "change_by_poles": worst,
            "sampled_change_by_poles": sampled.max(0),
            "change_by_residues": beta * jnp.exp(-t[:, None] * s).sum(1) / response(s),
            "change_by_mapped_residues": jnp.expm1(jnp.asarray(beta, dtype)),
            "initial_eigenvalue": -s,
        }

    return Program({"time": times, "state": np.arange(width, dtype=np.int32)}, start_of, measure)
