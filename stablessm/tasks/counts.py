r"""What counting says comes next: the baseline that a network of tokens has to beat.

The context of a pixel is its left neighbour, the one above and the one above the left one; of a sample or a character
the one, two and three before it. The shares of what followed a context of k tokens are blended with those of k - 1,
from the uniform distribution on: with n followers of u kinds,

    p_k(y) = (n_y + u p_{k-1}(y)) / (n + u).

References: Witten and Bell (1991), method C; Bell, Cleary and Witten, Text Compression (1990).
"""

from __future__ import annotations

import numpy as np

from stablessm.data.records import Examples
from stablessm.tasks.scores import Scores, summary
from stablessm.tasks.task import Split, Task, TaskError

ORDER = 3


def counted(task: Task, split: Split, *, order: int = ORDER) -> Scores:
    """Return how well counts of the training rows do on the rows of a split.

    Args:
        task: for language.
        split: whose rows.
        order: tokens of the longest context, 0 to 3.

    Raises:
        TaskError: tokens are not asked for.
    """
    if task.purpose != "language":
        raise TaskError(f"{task.name}: counts are of tokens, which a task of {task.purpose.replace('_', ' ')} has not")
    train, rows = task.splits["train"], task.splits[split]
    chances = blended(
        _contexts(train, task.shape)[:order], _kept(train, train.inputs),
        _contexts(rows, task.shape)[:order], _kept(rows, rows.inputs), task.tokens,
    )  # fmt: skip
    losses = -np.log(chances)
    steps = np.full(len(rows.inputs), rows.inputs.shape[1]) if rows.lengths is None else np.asarray(rows.lengths)
    of_rows = np.add.reduceat(losses, np.append(0, np.cumsum(steps)[:-1])) / steps
    return summary(task, split, of_rows, np.zeros(len(of_rows), bool))


def blended(
    contexts: list[np.ndarray], followers: np.ndarray, asked: list[np.ndarray], wanted: np.ndarray, tokens: int
) -> np.ndarray:
    """Return the probability of each token that is wanted, shape (steps,).

    Args:
        contexts: of training, the nearest token first, each of shape (n,).
        followers: what came there, shape (n,).
        asked: contexts of what is wanted, each of shape (steps,).
        wanted: shape (steps,).
        tokens: how many there are.

    Example:
        >>> blended([], np.array([0, 0, 1]), [], np.array([0, 1]), 2).round(3).tolist()
        [0.6, 0.4]
    """
    chance = np.full(len(wanted), 1 / tokens)
    here, there = np.zeros(len(followers), np.int64), np.zeros(len(wanted), np.int64)
    for nearest, known in [(None, None), *zip(contexts, asked, strict=True)]:
        if nearest is not None:
            here, there = here * tokens + nearest, there * tokens + known
        both, counts = np.unique(here * tokens + followers, return_counts=True)
        seen, place = np.unique(both // tokens, return_inverse=True)
        number, kinds = np.bincount(place, counts), np.bincount(place)
        of_context, of_both = _found(seen, there), _found(both, there * tokens + wanted)
        n, u = (np.where(of_context >= 0, values[of_context], 0) for values in (number, kinds))
        follows = np.where(of_both >= 0, counts[of_both], 0)
        chance = np.where(n > 0, (follows + u * chance) / np.maximum(n + u, 1), chance)
    return chance


def _found(known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the place of each value among known ones, which ascend; -1 where it is not there."""
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[place] == asked, place, -1)


def _contexts(part: Examples, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Return the three tokens that a step is told by, 0 beyond the edge, those that count in one row each."""
    tokens = np.asarray(part.inputs).astype(np.int64)
    if not shape:
        return [_kept(part, _shifted(tokens, place, axis=1)) for place in (1, 2, 3)]
    images = tokens.reshape(len(tokens), *shape)
    left = _shifted(images, 1, axis=2)
    above = _shifted(images, 1, axis=1)
    return [one.ravel() for one in (left, above, _shifted(left, 1, axis=1))]


def _shifted(values: np.ndarray, by: int, *, axis: int) -> np.ndarray:
    moved = np.roll(values, by, axis)
    moved[(slice(None),) * axis + (slice(0, by),)] = 0
    return moved


def _kept(part: Examples, values: np.ndarray) -> np.ndarray:
    values = np.asarray(values)
    if part.lengths is None:
        return values.reshape(-1).astype(np.int64)
    return values[np.arange(values.shape[1]) < np.asarray(part.lengths)[:, None]].astype(np.int64)
