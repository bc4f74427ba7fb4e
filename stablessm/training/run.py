"""One training run as a pure function: frozen at the first non-finite step, watched on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.typing import ArrayLike

PyTree = Any


class Trajectory(NamedTuple):
    """What a run leaves behind.

    Attributes:
        parameters: the final ones, or those before the first non-finite step.
        losses: before each step and after the last, shape (steps + 1,); after a non-finite step the last finite one,
            infinite where there was none.
        nonfinite_step: first step whose loss or gradient is not finite, -1 where there is none.
        observations: what `observe` returned at each recorded step, with a leading axis; infinite where that is NaN,
            as the gradient of a non-finite step can be.
    """

    parameters: PyTree
    losses: Array
    nonfinite_step: Array
    observations: PyTree


class _Carry(NamedTuple):
    parameters: PyTree
    optimizer: PyTree
    loss: Array
    nonfinite_step: Array
    observations: PyTree


def recorded_steps(steps: int, records: int) -> range:
    """Return the steps at which a run is observed: evenly spaced from 0, at most `records` of them.

    Args:
        steps: number of steps of the run.
        records: how many observations are wanted.
    """
    return range(0, steps, max(1, -(-steps // records)))


def run(
    loss: Callable[[PyTree, Array], Array],
    parameters: PyTree,
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    enough: ArrayLike | None = None,
    observe: Callable[[PyTree, PyTree, PyTree], PyTree] = lambda parameters, gradient, state: (),
    records: int = 1,
) -> Trajectory:
    """Train, and freeze the run at the first step whose loss or gradient is not finite.

    Args:
        loss: (parameters, step) -> scalar; the step picks the batch.
        parameters: pytree of arrays to be trained.
        optimizer: Optax transformation.
        steps: number of updates.
        enough: the run stays where its loss first falls to this; None for a run to the end.
        observe: (parameters, gradient, state) -> pytree, evaluated at `recorded_steps(steps, records)`; the parameters
            are those before the update, the state is what the optimiser made of the gradient.
        records: number of observations.

    Returns:
        The trajectory; nothing in it is NaN.
    """
    dtype = jax.eval_shape(loss, parameters, jnp.int32(0)).dtype
    value_and_gradient = jax.value_and_grad(loss)
    kept = recorded_steps(steps, records)
    optimizer = optax.with_extra_args_support(optimizer)  # those that watch the loss are told it

    def advance(carry: _Carry, step: Array) -> tuple[_Carry, Array]:
        value, gradient = value_and_gradient(carry.parameters, step)
        finite = jnp.isfinite(value) & jax.tree.reduce(
            jnp.logical_and, jax.tree.map(lambda leaf: jnp.isfinite(leaf).all(), gradient), jnp.bool_(True)
        )
        nonfinite_step = jnp.where(~finite & (carry.nonfinite_step < 0), step, carry.nonfinite_step)
        alive = nonfinite_step < 0
        if enough is not None:
            alive &= value > enough
        updates, state = optimizer.update(gradient, carry.optimizer, carry.parameters, value=value)
        new = optax.apply_updates(carry.parameters, updates)
        parameters, kept_state = jax.tree.map(
            lambda after, before: jnp.where(alive, after, before),
            (new, state),
            (carry.parameters, carry.optimizer),
        )
        # A step that is not recorded writes outside the array, which drops it.
        place = jnp.where(step % kept.step == 0, step // kept.step, len(kept))
        observations = jax.tree.map(
            lambda array, seen: array.at[place].set(jnp.where(jnp.isnan(seen), jnp.inf, seen), mode="drop"),
            carry.observations,
            observe(carry.parameters, gradient, state),
        )
        value = jnp.where(nonfinite_step < 0, value, carry.loss)
        return _Carry(parameters, kept_state, value, nonfinite_step, observations), value

    state = optimizer.init(parameters)
    observed = jax.eval_shape(observe, parameters, parameters, state)
    carry = _Carry(
        parameters=parameters,
        optimizer=state,
        loss=jnp.asarray(jnp.inf, dtype),
        nonfinite_step=jnp.int32(-1),
        observations=jax.tree.map(lambda leaf: jnp.zeros((len(kept), *leaf.shape), leaf.dtype), observed),
    )
    carry, losses = jax.lax.scan(advance, carry, jnp.arange(steps, dtype=jnp.int32))
    last = loss(carry.parameters, jnp.int32(steps))
    bad_end = ~jnp.isfinite(last) & (carry.nonfinite_step < 0)
    last = jnp.where(jnp.isfinite(last) & (carry.nonfinite_step < 0), last, carry.loss)
    return Trajectory(
        parameters=carry.parameters,
        losses=jnp.concatenate([losses, last[None]]),
        nonfinite_step=jnp.where(bad_end, steps, carry.nonfinite_step),
        observations=carry.observations,
    )
