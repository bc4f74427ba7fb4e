"""The program of the measurement `one_mode`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.descent_programs import curvature_step, loss_of_mode, rate_of
from stablessm.measurements.kernel_fit import decay_of
from stablessm.measurements.one_mode import BEHAVIOURS, OneModeSettings
from stablessm.parameterizations.views import Views
from stablessm.training.optimizers import OPTIMIZERS
from stablessm.training.outcomes import COLLAPSE, TAIL
from stablessm.training.run import run

SETTLED = 1e-3


def one_mode(static: Mapping[str, Any], settings: OneModeSettings) -> Program:
    """Program of `one_mode`: an optimiser on the loss int (rho - rho_hat)^2 over all times, w alone being trained.

    A run settles where its decay ends within 1e-3 of the target's (relative) and closer than it started; it approaches
    where it is not there yet and its loss never rises over the last tenth; it forgets where its loss there is on
    average that of no memory at all, or more; it is unstable where its eigenvalue leaves the stable range, for then the
    loss is infinite. What is left cycles. "outside_image" is no run: the map lacks a decay it needs.
    """
    parameterization: Views = static["parameterization"]
    optimizer = OPTIMIZERS[static["optimizer"]]
    lengths = np.geomspace(settings.shortest_memory, settings.longest_memory, settings.memory_lengths)
    ratios = np.asarray(settings.start_ratios)
    tail = max(2, round(TAIL * settings.steps))

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        constants, dtype = constants_of(traced), jnp.result_type(float)

        def weight_of(decay: Array) -> tuple[Array, Array]:
            """The weight of a decay, and whether the map has it."""
            weight = parameterization.weight(decay, **constants)
            return weight, jnp.abs(parameterization.decay(weight, **constants) - decay) <= 1e-4 * decay

        def trained(alpha: Array, ratio: Array) -> Mapping[str, Array]:
            (optimum, reached), (start, begins) = weight_of(alpha), weight_of(ratio * alpha)
            target = rate_of(parameterization, optimum, constants)

            def loss(weight: Array, step: Array) -> Array:
                stable = parameterization.margin(weight, **constants) > 0
                rate = rate_of(parameterization, weight, constants)
                return jnp.where(
                    stable, loss_of_mode(parameterization, jnp.where(stable, rate, target), target), jnp.inf
                )

            done = run(
                loss, start, optimizer.transformation(traced["learning_rate"], lambda _: False), steps=settings.steps,
                observe=lambda weight, gradient, state: parameterization.eigenvalue(weight, **constants),
                records=settings.steps,
            )  # fmt: skip
            distance = parameterization.decay(done.parameters, **constants) / alpha - 1
            late = done.losses[-tail - 1 :]
            nothing = loss_of_mode(parameterization, None, target)
            closer = (jnp.abs(distance) < jnp.minimum(SETTLED, jnp.abs(ratio - 1))) & (late[-1] <= late[0])
            falls = (jnp.diff(late) <= 1e-4 * late[:-1]).all()  # but for rounding
            behaviour = jnp.where(falls, 1, 2)
            behaviour = jnp.where(closer, 0, behaviour)
            behaviour = jnp.where(late.mean() >= COLLAPSE * nothing, 3, behaviour)
            behaviour = jnp.where(done.nonfinite_step >= 0, 4, behaviour)
            known = reached & begins
            return {
                "behaviour": jnp.where(known, behaviour, BEHAVIOURS.index("outside_image")).astype(jnp.int8),
                "final_distance": jnp.where(known, distance, jnp.nan),
                "smallest_eigenvalue": jnp.where(known, done.observations.min(), jnp.nan),
            }

        def allowed(alpha: Array) -> Array:
            optimum, reached = weight_of(alpha)
            return jnp.where(reached, curvature_step(parameterization, optimum, constants), jnp.nan)

        decays = decay_of(jnp.asarray(1 / lengths, dtype), parameterization.link)
        over = jax.vmap(jax.vmap(trained, (0, None)), (None, 0))
        edge = optimizer.edge if optimizer.follows_curvature else jnp.nan
        return {
            **over(decays, jnp.asarray(ratios, dtype)),
            "largest_stable_step": edge / 2 * jax.vmap(allowed)(decays),
        }

    coordinates = {"start_ratio": ratios, "memory_length": lengths}
    return Program(coordinates, lambda seed: (), measure)
