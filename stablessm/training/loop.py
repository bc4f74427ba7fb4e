"""One loop for models on data: compiled stretches of steps between evaluations, frozen at the first non-finite step.

Everything random is a function of the key and the number of the step: the order of the rows, and the masks of dropout,
of which every row of every batch has its own. A run that is taken up from a checkpoint is therefore the run that was
not interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.training.batches import STORED, Drawing, Examples, batch_at, order_of, rows_in
from stablessm.training.recipe import Recipe, transformation

Loss = Callable[[Any, Examples, Array | None], Array]
STRETCH = 64  # steps of one call of the compiled program, at most


class TrainingState(NamedTuple):
    """All that changes along a run: what a checkpoint holds.

    Attributes:
        parameters: what is trained of the model.
        optimizer: state of the optimiser.
        step: steps that have been taken.
        first_bad_step: the first whose loss or gradient was not finite, -1 where there is none; parameters and
            optimiser are then those before it.
    """

    parameters: Any
    optimizer: Any
    step: Array
    first_bad_step: Array


class Training(NamedTuple):
    """A run made ready.

    Attributes:
        start: the state before the first step.
        advance: (state, steps) -> (state, losses of those steps, what was observed at them); compiled once, whatever
            the number of steps. The loss of a step behind a non-finite one is infinite.
        model: state -> the model.
        batch: step -> (examples, key of dropout): what the loss of that step is of.
        traced: nothing -> the program of a stretch of steps, traced and not compiled.
    """

    start: TrainingState
    advance: Callable[[TrainingState, int], tuple[TrainingState, Array, Any]]
    model: Callable[[TrainingState], Any]
    batch: Callable[[Array | int], tuple[Examples, Array]]
    traced: Callable[[], Any]


def training(
    model: Any,
    loss: Loss,
    examples: Examples,
    recipe: Recipe,
    *,
    observe: Callable[[Any, Any], Any] = lambda parameters, gradient: (),
    drawing: Drawing = STORED,
    key: Array,
) -> Training:
    """Make a run ready.

    Args:
        model: any pytree; its arrays of floats are trained.
        loss: (model, examples, key of dropout) -> mean loss of a batch.
        examples: the training split, on the device.
        recipe: how.
        observe: (parameters, gradient) -> pytree of arrays, of every step before its update; infinite where it
            is NaN.
        drawing: where the rows of a batch come from, and what is changed in them; from the training split, nothing.
        key: PRNG key of the order of the rows, of what is changed in them, and of dropout.

    Raises:
        ValueError: there are fewer rows than a batch takes.
    """
    rows = len(examples.inputs)
    stored = drawing.draw is None
    if stored and recipe.batch > rows:
        raise ValueError(f"`batch` must be at most the number of rows, {rows}, but got {recipe.batch}")
    parameters, rest = eqx.partition(model, eqx.is_inexact_array)
    optimizer = transformation(recipe, parameters)
    order_key, dropout_key = jax.random.split(key)
    change_key = jax.random.fold_in(key, 2)
    start = TrainingState(parameters, optimizer.init(parameters), jnp.int32(0), jnp.int32(-1))

    def order_at(step: Array | int) -> Array:
        return order_of(order_key, step, rows=rows, batch=recipe.batch) if stored else jnp.zeros(0, jnp.int32)

    def batch(data: Examples, step: Array | int, order: Array) -> tuple[Examples, Array]:
        found = batch_at(
            data, step, lambda: rows_in(order, step, batch=recipe.batch), drawing, change_key, batch=recipe.batch
        )
        return found, jax.random.fold_in(dropout_key, step)

    def one(data: Examples, state: TrainingState, order: Array) -> tuple[TrainingState, Array, Any]:
        chosen, mask_key = batch(data, state.step, order)
        value, gradient = jax.value_and_grad(lambda parameters: loss(eqx.combine(parameters, rest), chosen, mask_key))(
            state.parameters
        )
        finite = jnp.isfinite(value) & jax.tree.reduce(
            jnp.logical_and, jax.tree.map(lambda leaf: jnp.isfinite(leaf).all(), gradient), jnp.bool_(True)
        )
        bad = jnp.where(~finite & (state.first_bad_step < 0), state.step, state.first_bad_step)
        updates, memory = optimizer.update(gradient, state.optimizer, state.parameters, value=value)
        new = eqx.apply_updates(state.parameters, updates)
        kept, memory = jax.tree.map(
            lambda after, before: jnp.where(bad < 0, after, before),
            (new, memory),
            (state.parameters, state.optimizer),
        )
        seen = jax.tree.map(lambda leaf: jnp.where(jnp.isnan(leaf), jnp.inf, leaf), observe(state.parameters, gradient))
        return TrainingState(kept, memory, state.step + 1, bad), jnp.where(bad < 0, value, jnp.inf), seen

    def stretch(state: TrainingState, data: Examples, steps: Array) -> tuple[TrainingState, Any]:
        def step(place: Array, carry: tuple[TrainingState, Array, Any]) -> tuple[TrainingState, Array, Any]:
            state, order, room = carry
            # sorting the rows anew at every step would be a fifth of a small model's time
            if stored:
                order = jax.lax.cond(state.step % (rows // recipe.batch) == 0, order_at, lambda _: order, state.step)
            state, *found = one(data, state, order)
            return state, order, jax.tree.map(lambda all_, new: all_.at[place].set(new), room, tuple(found))

        order = order_at(state.step)
        shapes = jax.eval_shape(one, data, state, order)[1:]
        room = jax.tree.map(lambda leaf: jnp.full((STRETCH, *leaf.shape), jnp.inf, leaf.dtype), shapes)
        state, _, found = jax.lax.fori_loop(0, steps, step, (state, order, room))
        return state, found

    drawn = jax.jit(lambda data, step: batch(data, step, order_at(step)))
    compiled = jax.jit(stretch)  # how many steps is an argument: a stretch of any number is the same program

    def advance(state: TrainingState, steps: int) -> tuple[TrainingState, Array, Any]:
        parts = []
        for done in range(0, steps, STRETCH):
            count = min(STRETCH, steps - done)
            state, found = compiled(state, examples, jnp.int32(count))
            parts.append(jax.tree.map(lambda leaf, count=count: leaf[:count], found))
        losses, seen = parts[0] if len(parts) == 1 else jax.tree.map(lambda *some: jnp.concatenate(some), *parts)
        return state, losses, seen

    return Training(
        start,
        advance,
        lambda state: eqx.combine(state.parameters, rest),
        lambda step: drawn(examples, step),
        lambda: compiled.trace(start, examples, jnp.int32(1)),
    )
