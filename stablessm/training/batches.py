"""Batches as a function of the step alone, so that a run that is taken up again sees what it would have seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.data.records import Examples as Examples


def checked(examples: Examples) -> Examples:
    """Return examples as they are, or say what is wrong with them.

    Raises:
        ValueError: no rows, parts of different numbers of rows, or lengths outside of 1 to time.
    """
    rows = {len(part) for part in examples if part is not None}
    if len(rows) > 1:
        raise ValueError(f"inputs, targets and lengths must have one number of rows, but got {sorted(rows)}")
    if rows == {0} or examples.inputs.shape[1] == 0:
        raise ValueError("there is nothing to train on: no rows, or rows of no steps")
    if examples.lengths is not None:
        lengths, most = np.asarray(examples.lengths), examples.inputs.shape[1]
        if lengths.min() < 1 or lengths.max() > most:
            raise ValueError(f"lengths must lie from 1 to {most}, but go from {lengths.min()} to {lengths.max()}")
    return examples


def rows_of(key: Array, step: Array, *, rows: int, batch: int) -> Array:
    """Return the rows of the batch of a step: every row once in an epoch, each epoch in an order of its own.

    What is left over at the end of an epoch, fewer rows than a batch, waits for another one.

    Args:
        key: PRNG key of the order.
        step: number of the batch, from 0 on.
        rows: of the data set.
        batch: rows of a batch, at most `rows`.

    Example:
        >>> seen = [rows_of(jax.random.key(0), step, rows=6, batch=2).tolist() for step in range(3)]
        >>> sorted(sum(seen, []))
        [0, 1, 2, 3, 4, 5]
    """
    return rows_in(order_of(key, step, rows=rows, batch=batch), step, batch=batch)


def order_of(key: Array, step: Array, *, rows: int, batch: int) -> Array:
    """Return the order of the rows in the epoch of a step; arguments are those of `rows_of`.

    It is a sort of all rows: a loop keeps it until the next epoch.
    """
    return jax.random.permutation(jax.random.fold_in(key, step // (rows // batch)), rows)


def rows_in(order: Array, step: Array, *, batch: int) -> Array:
    """Return the rows of the batch of a step from the order of its epoch."""
    return jax.lax.dynamic_slice(order, ((step % (len(order) // batch)) * batch,), (batch,))


def taken(examples: Examples, rows: Array) -> Examples:
    """Return some rows.

    Args:
        examples: the data set.
        rows: which.
    """
    return jax.tree.map(lambda part: jnp.take(part, rows, axis=0), examples)


def orders_of(key: Array, *, steps: int, rows: int, batch: int) -> Array:
    """Return the rows of all batches of a run, one behind the other: those of `rows_of`, sorted once.

    Args:
        key: PRNG key of the order.
        steps: of the run.
        rows: of the data set.
        batch: rows of a batch, at most `rows`.
    """
    each = rows // batch
    epochs = jnp.arange(-(-steps // each), dtype=jnp.int32)
    return jax.vmap(lambda epoch: order_of(key, epoch * each, rows=rows, batch=batch)[: each * batch])(epochs).ravel()


class Drawing(NamedTuple):
    """Where the rows of a batch come from.

    Attributes:
        draw: row numbers -> rows, made anew; None where they are stored.
        change: (rows, key) -> the same rows changed at random; None where they stay as they are.
    """

    draw: Callable[[Array], Examples] | None = None
    change: Callable[[Examples, Array], Examples] | None = None


STORED = Drawing()


def batch_at(
    examples: Examples, step: Array | int, chosen: Callable[[], Array], drawing: Drawing, key: Array, *, batch: int
) -> Examples:
    """Return the rows of a step.

    Args:
        examples: the rows that are stored.
        step: its number, from 0 on.
        chosen: nothing -> which of them, where they are not made anew.
        drawing: where rows come from.
        key: PRNG key of what is changed in them.
        batch: rows of a batch.
    """
    if drawing.draw is None:
        found = taken(examples, chosen())
    else:
        found = drawing.draw(step * batch + jnp.arange(batch, dtype=jnp.int32))
    return found if drawing.change is None else drawing.change(found, jax.random.fold_in(key, step))
