"""Projected gradient ascent over a ball of perturbations.

The error of a model is close to a convex function of what moves its weights, and a convex function is largest on the
boundary: a long step along the gradient, projected back, ends at the direction in the ball that the gradient points to
most. That is the step taken while it climbs; then the step is halved, from the best direction there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jax import Array

from stablessm.measurements.balls import BALLS, size

Direction = Mapping[str, Array]


def steepest(gradient: Direction, moving: Mapping[str, Array], ball: Array) -> dict[str, Array]:
    """Return the direction of size at most 1 with the largest inner product with a gradient.

    Args:
        gradient: one array a block.
        moving: whether a block moves, 0 or 1.
        ball: place in `BALLS`, possibly traced.
    """
    kept = {name: moving[name] * block for name, block in gradient.items()}
    together = size(kept, "l2")
    each = {name: jnp.linalg.norm(block) for name, block in kept.items()}

    def scaled(block: Array, norm: Array) -> Array:
        return jnp.where(norm > 0, block / jnp.where(norm > 0, norm, 1), 0)

    choices = {
        "inf": {name: jnp.sign(block) for name, block in kept.items()},
        "block_l2": {name: scaled(block, each[name]) for name, block in kept.items()},
        "l2": {name: scaled(block, together) for name, block in kept.items()},
    }
    return {name: jnp.stack([choices[one][name] for one in BALLS])[ball] for name in kept}


def climb(
    value: Callable[[Direction], Array],
    start: Direction,
    toward: Callable[[Direction], Direction],
    *,
    steps: int,
) -> tuple[Array, Direction]:
    """Return the largest value met and its direction.

    Args:
        value: direction -> scalar, differentiable; what is not finite is not climbed.
        start: a direction in the ball.
        toward: gradient -> the direction in the ball that it points to most (`steepest`).
        steps: evaluations of the gradient; half of them with the longest step.
    """
    slope = jax.value_and_grad(value)

    def step(carry: tuple, number: Array) -> tuple[tuple, None]:
        here, best, most = carry
        found, gradient = slope(here)
        better = jnp.isfinite(found) & (found > most)
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), here, best)
        most = jnp.where(better, found, most)
        usable = jax.tree.reduce(jnp.logical_and, jax.tree.map(lambda one: jnp.isfinite(one).all(), gradient))
        part = jnp.where(usable, jnp.exp2(-jnp.maximum(0.0, number - steps // 2)), 0.0).astype(found.dtype)
        ahead = toward(jax.tree.map(jnp.nan_to_num, gradient))
        origin = jax.tree.map(lambda one, two: jnp.where(number < steps // 2, one, two), here, best)
        return (jax.tree.map(lambda one, two: one + part * (two - one), origin, ahead), best, most), None

    carry = dict(start), dict(start), jnp.asarray(-jnp.inf, jax.eval_shape(value, start).dtype)
    (last, best, most), _ = jax.lax.scan(step, carry, jnp.arange(steps, dtype=jnp.int32))
    found = value(last)
    better = jnp.isfinite(found) & (found > most)
    return jnp.where(better, found, most), jax.tree.map(lambda new, old: jnp.where(better, new, old), last, best)
