"""Losses and metrics of a task: one batch to train on, row by row to evaluate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from stablessm.data.records import as_values
from stablessm.models import Network
from stablessm.tasks.activations import Activations, with_activations
from stablessm.tasks.task import Task, TaskError
from stablessm.training.batches import Examples, taken

_BLOCKS = 50  # of neighbouring rows, for the error of a mean over a text or a series


class Scores(NamedTuple):
    """How a model does on one split.

    Attributes:
        loss: mean over rows (nats, or mean squared error).
        loss_error: its standard error.
        metric: the metric of the task.
        metric_error: its standard error: binomial for accuracy, over blocks of neighbouring rows else.
        rows: number of rows.
        per_class: accuracy of each class, infinite for one without rows; empty where there are no classes.
    """

    loss: float
    loss_error: float
    metric: float
    metric_error: float
    rows: int
    per_class: tuple[float, ...] = ()


def loss_of(task: Task, activations: Activations = "float32") -> Callable[[Any, Examples, Array | None], Array]:
    """Return (model, examples, key of dropout) -> mean loss of a batch; every row has a mask of its own.

    Args:
        task: the task.
        activations: in which precision features are held between layers.
    """

    def loss(model: Network, examples: Examples, key: Array | None) -> Array:
        keys = None if key is None else jax.random.split(key, len(examples.inputs))
        return row_losses(task, with_activations(model, activations), examples, keys, learning=True)[0].mean()

    return loss


def scorer(task: Task, activations: Activations, batch: int) -> Callable[[Network, Examples], tuple[Any, Any]]:
    """Return (model, rows) -> (loss of each row, whether each is right), NumPy; compiled once for rows of one shape.

    Args:
        task: the task.
        activations: as in `loss_of`.
        batch: rows at a time.
    """

    @eqx.filter_jit
    def some(model: Network, rows: Examples, chosen: Array) -> tuple[Array, Array]:
        return row_losses(task, with_activations(model, activations), taken(rows, chosen), None)

    def score(model: Network, rows: Examples) -> tuple[np.ndarray, np.ndarray]:
        count = len(rows.inputs)
        size = min(batch, count)
        # the last rows of the last batch are filled up, and cut off again
        found = [
            some(model, rows, jnp.minimum(jnp.arange(start, start + size), count - 1))
            for start in range(0, count, size)
        ]
        losses, right = (np.concatenate([np.asarray(one) for one in part])[:count] for part in zip(*found, strict=True))
        return losses.astype(np.float64), right

    return score


def carrying_scorer(task: Task, activations: Activations) -> Callable[[Network, Examples], tuple[Any, Any]]:
    """Return what `scorer` does, for rows of one text or series: the state is carried from each row to the next.

    Every step but the first is told all that stands before it, as far as the network remembers it.

    Args:
        task: the task.
        activations: as in `loss_of`.

    Raises:
        TaskError: rows that do not follow one another.
    """
    if not task.is_one_series:
        raise TaskError(f"{task.name}: rows that do not follow one another have no state to carry")

    @eqx.filter_jit
    def score(model: Network, rows: Examples) -> Array:
        model = with_activations(model, activations)
        values = rows.inputs if model.has_tokens else rows.inputs.astype(model.encoder.weight.dtype)

        def loss(y: Array, target: Array) -> Array:
            y = y.astype(jnp.float32)
            if task.purpose == "next_value":
                return jnp.square(y - target).mean()
            return optax.softmax_cross_entropy_with_integer_labels(y, target.astype(jnp.int32)).mean()

        def follow(carry: tuple[Array, Any], row: tuple[Array, Array]) -> tuple[tuple[Array, Any], Array]:
            y, state = model.follow(row[0], *carry)
            return (row[0][-1], state), loss(y, row[1])

        y, state = model(values[0])
        later = jax.lax.scan(follow, (values[0, -1], state), (values[1:], rows.targets[1:]))[1]
        return jnp.concatenate([loss(y, rows.targets[0])[None], later])

    def scored(model: Network, rows: Examples) -> tuple[np.ndarray, np.ndarray]:
        losses = np.asarray(score(model, rows), np.float64)
        return losses, np.zeros(len(losses), bool)

    return scored


def summary(task: Task, split: Literal["validation", "test", "train"], losses: np.ndarray, right: np.ndarray) -> Scores:
    """Return what the scores of rows come to; infinite where a loss is not finite.

    Args:
        task: the task.
        split: whose rows they are.
        losses: of each row.
        right: whether each is right.
    """
    count, finite = len(losses), bool(np.isfinite(losses).all())
    if task.purpose == "classification":
        loss, error = (float(losses.mean()), float(losses.std(ddof=1) / count**0.5)) if finite and count > 1 else (
            (float(losses.mean()), np.inf) if finite else (np.inf, np.inf)
        )  # fmt: skip
        share = float(right.mean())
        labels = np.asarray(task.splits[split].targets)
        per_class = tuple(
            float(right[labels == place].mean()) if (labels == place).any() else np.inf
            for place in range(len(task.classes))
        )
        return Scores(loss, error, share, (share * (1 - share) / count) ** 0.5, count, per_class)
    if not finite:
        return Scores(np.inf, np.inf, np.inf, np.inf, count)
    blocks = np.array([part.mean() for part in np.array_split(losses, min(count, _BLOCKS))])
    loss = float(losses.mean())
    error = float(blocks.std(ddof=1) / len(blocks) ** 0.5) if len(blocks) > 1 else np.inf
    offset, factor = task.of_loss(split)
    return Scores(loss, error, offset + factor * loss, error * abs(factor), count)


def outputs(model: Network, x: Array, length: Array | None, key: Array | None) -> tuple[Array, Any]:
    """Return what a network makes of one row: its answer and its states.

    Args:
        model: the network.
        x: a row of the data set, pixels as bytes or as the tokens that these are.
        length: steps that count; None for all.
        key: of dropout; None for none.
    """
    values = x.astype(jnp.int32) if model.has_tokens else as_values(x)  # pixels as tokens are bytes, too
    if jnp.issubdtype(values.dtype, jnp.floating):
        values = values.astype(model.encoder.weight.dtype)
    counts = model.purpose == "classification" or not model.is_causal
    return model(values, key=key, **({"length": length} if counts else {}))


def row_losses(
    task: Task, model: Network, rows: Examples, keys: Array | None, *, learning: bool = False
) -> tuple[Array, Array]:
    """Return the loss of each row, and whether its answer is right; under jit too.

    Args:
        task: the task.
        model: the network.
        rows: some of a split.
        keys: of dropout, one a row; None for none.
        learning: whether the loss is the one that is trained on, of all the questions of the task.
    """

    def one(x: Array, target: Array, length: Array | None, key: Array | None) -> tuple[Array, Array]:
        y = outputs(model, x, length, key)[0].astype(jnp.float32)
        if task.purpose == "regression":
            return jnp.square(y[len(y) - len(target) :] - target).mean(), jnp.bool_(False)
        if task.purpose == "next_value":
            return jnp.square(y - target).mean(), jnp.bool_(False)
        if task.purpose == "language":
            losses = optax.softmax_cross_entropy_with_integer_labels(y, target.astype(jnp.int32))
            counts = True if length is None else jnp.arange(len(x)) < length
            return losses.mean(where=counts), jnp.bool_(False)
        if learning and task.questions:
            return _of_questions(y, x, target, task.questions), jnp.bool_(False)
        if model.purpose != "classification":  # it answers at every step, and the last one counts
            y = y[(len(x) if length is None else length) - 1]
        return optax.softmax_cross_entropy_with_integer_labels(y, target), jnp.argmax(y) == target

    axes = (0, 0, None if rows.lengths is None else 0, None if keys is None else 0)
    return jax.vmap(one, axes)(rows.inputs, rows.targets, rows.lengths, keys)


def _of_questions(y: Array, x: Array, target: Array, questions: int) -> Array:
    """The mean loss over the steps whose token is a question: its answer is the next token, at the end the target."""
    answers = jnp.append(x[1:], target.astype(x.dtype))
    asked = x < questions
    losses = optax.softmax_cross_entropy_with_integer_labels(y, answers)
    return jnp.where(asked, losses, 0).sum() / jnp.maximum(asked.sum(), 1)
