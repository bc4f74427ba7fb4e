r"""The program of the measurement `mode_perturbation`.

Closed forms (`stablessm.modes`) beside sums over samples at the middles of 20 / decay in equal steps. The mixtures are
(1 + t)^-p = 1/Gamma(p) int s^{p-1} e^{-s} e^{-st} ds by generalised Gauss-Laguerre quadrature: m decays s_i and weights
c_i, whose sum of c_i/s_i tends to int (1 + t)^-p dt = 1/(p - 1), and grows without bound for p <= 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.special import gamma, roots_genlaguerre

from stablessm import modes
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.mode_perturbation import ModePerturbationSettings
from stablessm.parameterizations import ParameterizationError
from stablessm.parameterizations.views import Views

_REACH = 20.0  # e^-20 is left out


def mode_perturbation(static: Mapping[str, Any], settings: ModePerturbationSettings) -> Program:
    """Program of `mode_perturbation`. Decays that a map does not reach are NaN: its curve ends there."""
    parameterization: Views = static["parameterization"]
    if parameterization.link != "continuous":
        raise ParameterizationError(
            f"modes are perturbed in continuous time, but {parameterization.name!r} is under {parameterization.link!r}"
        )
    grid = np.geomspace(settings.slowest_decay, settings.fastest_decay, settings.decays)
    masses = np.array([[_mass(power, width) for width in settings.width] for power in settings.power])
    limits = np.array([1 / (power - 1) if power > 1 else np.inf for power in settings.power])
    beta = settings.beta

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        constants, decay = constants_of(traced), jnp.asarray(grid, jnp.result_type(float))
        weight = jax.jit(lambda decay: parameterization.weight(decay, **constants))(decay)  # traced: no check
        reached = jnp.abs(parameterization.decay(weight, **constants) - decay) <= 1e-3 * decay
        moved = jnp.stack([parameterization.decay(weight + change, **constants) for change in (-beta, beta)])
        summed = jax.vmap(lambda s, moved: _summed(s, moved, beta, settings.samples))(decay, moved.T)
        closed = {
            "recurrent_distance": jnp.where(reached, modes.decay_distance(decay, moved).max(0), jnp.nan),
            "free_phase_distance": modes.free_phase_distance(decay, beta),
            "scaled_phase_distance": jnp.broadcast_to(modes.scaled_phase_distance(beta), decay.shape),
            "readout_cost": beta / decay,
        }
        summed["recurrent_distance"] = jnp.where(reached, summed["recurrent_distance"], jnp.nan)
        return {
            **closed,
            **{f"{name}_summed": values for name, values in summed.items()},
            "absolute_mass": jnp.asarray(masses, decay.dtype),
            "absolute_mass_limit": jnp.asarray(limits, decay.dtype),
        }

    coordinates = {"decay": grid, "power": np.asarray(settings.power), "width": np.asarray(settings.width, np.int32)}
    return Program(coordinates, lambda seed: (), measure)


def _summed(decay: Array, moved: Array, beta: float, samples: int) -> dict[str, Array]:
    """The integrals of one mode as sums over samples; infinite where a moved decay is not positive."""

    def total(integrand: Callable[[Array], Array], slowest: Array) -> Array:
        step = _REACH / slowest / samples
        return jnp.abs(integrand(step * (jnp.arange(samples) + 0.5))).sum() * step

    def apart(other: Array) -> Array:
        slowest = jnp.minimum(decay, jnp.where(other > 0, other, decay))
        found = total(lambda t: jnp.exp(-other * t) - jnp.exp(-decay * t), slowest)
        return jnp.where(other > 0, decay * found, jnp.inf)

    def turned(delta: Array | float) -> Array:
        return decay * total(lambda t: jnp.exp(-decay * t) * 2 * jnp.sin(delta * t / 2), decay)

    return {
        "recurrent_distance": jax.vmap(apart)(moved).max(),
        "free_phase_distance": turned(beta),
        "scaled_phase_distance": turned(beta * decay),
        "readout_cost": total(lambda t: beta * jnp.exp(-decay * t), decay),
    }


def _mass(power: float, width: int) -> float:
    """sum c_i/s_i of the mixture of (1 + t)^-p with so many modes."""
    decays, weights = roots_genlaguerre(width, power - 1)
    return float((weights / decays).sum() / gamma(power))
