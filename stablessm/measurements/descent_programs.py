r"""The programs of the measurements `descent` and `largest_step`.

The loss of one mode e^{-s t} against e^{-alpha t} is (s - alpha)^2/(2 alpha s (alpha + s)) in continuous time, and that
of lambda^k against q^k is (lambda - q)^2 (1 + lambda q)/((1 - lambda^2)(1 - q^2)(1 - lambda q)) in discrete time: both
without the cancellation of 1/(2 s) - 2/(alpha + s) + 1/(2 alpha).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.descent import DescentSettings, LargestStepSettings
from stablessm.measurements.kernel_fit import decay_of
from stablessm.parameterizations.views import Views
from stablessm.theory.descent import POTENTIALS

_VALUES: Mapping[str, Callable[[Array], Array]] = {
    "quartic": lambda x: x**4,
    "quadratic": lambda x: x**2,
    "root": lambda x: jnp.sqrt(jnp.abs(x)),
}
_SCALES: Mapping[str, Callable[[Array], Array]] = {
    "quartic": lambda eta: 1 / jnp.sqrt(2 * eta),
    "quadratic": jnp.ones_like,
    "root": lambda eta: (eta / 4) ** (2 / 3),
}


def descent(static: Mapping[str, Any], settings: DescentSettings) -> Program:
    """Program of `descent`: over its last quarter a run settles, diverges, or does neither, and wanders.

    It settles where no step goes away from 0 and all begin nearer than the distance that decides (of x^2 none does: a
    run of sqrt|x| that was thrown far out comes nearer too, and does not settle); it diverges where every step goes
    away, or where it is infinite.
    """
    ratios = np.asarray(settings.starts)

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        eta, distances, scales = traced["learning_rate"], [], []
        for name in POTENTIALS:
            scale = _SCALES[name](eta)
            run = jax.vmap(
                lambda x, name=name: _walk(lambda x: x - eta * jax.grad(_VALUES[name])(x), x, settings.steps)
            )
            distances.append(jnp.abs(run(scale * jnp.asarray(ratios, scale.dtype))) / scale)
            scales.append(scale)
        distance = jnp.stack(distances)
        distance = jnp.where(jnp.isnan(distance), jnp.inf, distance)
        late = distance[..., -(settings.steps // 4) - 1 :]
        shrinks, grows = (late[..., 1:] <= late[..., :-1]).all(-1), (late[..., 1:] > late[..., :-1]).all(-1)
        free = np.asarray([name == "quadratic" for name in POTENTIALS])[:, None]
        shrinks &= (late[..., 0] < 1) | free
        behaviour = jnp.where(grows | jnp.isinf(late[..., -1]), 2, jnp.where(shrinks, 0, 1))
        return {
            "distance": distance,
            "behaviour": behaviour.astype(jnp.int8),
            "deciding_distance": jnp.stack(scales),
        }

    coordinates = {
        "potential": np.asarray(list(POTENTIALS)),
        "start": ratios,
        "step": np.arange(settings.steps + 1, dtype=np.int32),
    }
    return Program(coordinates, lambda seed: (), measure)


def largest_step(static: Mapping[str, Any], settings: LargestStepSettings) -> Program:
    """Program of `largest_step`. Decays that a map does not reach are NaN: its curve ends there.

    Raises:
        ValueError: a start closer to the optimum than the precision of the sweep can tell apart.
    """
    parameterization: Views = static["parameterization"]
    precision = float(jnp.finfo(jnp.result_type(float)).eps)
    if settings.start < 1e6 * precision:
        raise ValueError(
            f"start {settings.start:g} is lost in the rounding of this precision, {precision:g}; take it larger than "
            f"{1e6 * precision:.1g}, or precision = ['float64']"
        )
    grid = np.geomspace(settings.slowest_decay, settings.fastest_decay, settings.decays)
    ratios = np.asarray(settings.step_ratios)

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        constants, dtype = constants_of(traced), jnp.result_type(float)

        def along(alpha: Array) -> tuple[Array, Array]:
            """The largest stable step and the runs at every ratio, shape (ratios, steps + 1), of one target."""
            target = decay_of(alpha, parameterization.link)
            optimum = parameterization.weight(target, **constants)
            reached = jnp.abs(parameterization.decay(optimum, **constants) - target) <= 1e-6 * target
            alpha_there = rate_of(parameterization, optimum, constants)  # the optimum of the loss to the last bit
            loss = lambda w: loss_of_mode(parameterization, rate_of(parameterization, w, constants), alpha_there)  # noqa: E731
            slope = jax.grad(loss)
            largest = curvature_step(parameterization, optimum, constants)

            def run(ratio: Array) -> Array:
                step = lambda w: w - ratio * largest * slope(w)  # noqa: E731
                return jnp.abs(_walk(step, optimum + settings.start, settings.steps) - optimum) / settings.start

            return jnp.where(reached, largest, jnp.nan), jax.vmap(run)(jnp.asarray(ratios, dtype))

        largest, runs = jax.jit(jax.vmap(along))(jnp.asarray(np.append(grid, settings.shown_decay), dtype))
        growth = (runs[..., -1] / runs[..., 0]) ** (1 / settings.steps)
        return {
            "largest_stable_step": largest[:-1],
            "growth": jnp.where(jnp.isfinite(largest[:-1]), growth[:-1].T, jnp.nan),
            "shown_step": largest[-1],
            "distance": jnp.where(jnp.isfinite(runs[-1]), runs[-1], jnp.inf),
            "shown_decay": jnp.asarray(settings.shown_decay, dtype),
        }

    coordinates = {
        "decay": grid,
        "step_ratio": ratios,
        "step": np.arange(settings.steps + 1, dtype=np.int32),
    }
    return Program(coordinates, lambda seed: (), measure)


def _walk(step: Callable[[Array], Array], start: Array, steps: int) -> Array:
    """The points of an iteration, the start included."""
    _, after = jax.lax.scan(lambda x, _: (step(x),) * 2, start, None, length=steps)
    return jnp.concatenate([start[None], after])


def curvature_step(parameterization: Views, optimum: Array, constants: Mapping[str, Array]) -> Array:
    """Return 2 / (d2 loss/dw2) at the optimum of one mode, the largest stable step of gradient descent there."""
    target = rate_of(parameterization, optimum, constants)
    loss = lambda w: loss_of_mode(parameterization, rate_of(parameterization, w, constants), target)  # noqa: E731
    return 2 / jax.grad(jax.grad(loss))(optimum)


def rate_of(parameterization: Views, weight: Array, constants: Mapping[str, Array]) -> Array:
    """Return what the loss is a function of: the decay in continuous time, the eigenvalue in discrete time."""
    if parameterization.link == "continuous":
        return parameterization.decay(weight, **constants)
    return parameterization.eigenvalue(weight, **constants)


def loss_of_mode(parameterization: Views, rate: Array | None, target: Array) -> Array:
    """Return the loss of one mode, in the form without cancellation (see above).

    Args:
        parameterization: of which the link counts.
        rate: as `rate_of` returns it; None for no mode at all.
        target: that of the target.
    """
    continuous = parameterization.link == "continuous"
    if rate is None:
        return 1 / (2 * target) if continuous else 1 / (1 - target**2)
    square = (rate - target) ** 2
    if continuous:
        return square / (2 * target * rate * (target + rate))
    product = target * rate
    return square * (1 + product) / ((1 - rate**2) * (1 - target**2) * (1 - product))
