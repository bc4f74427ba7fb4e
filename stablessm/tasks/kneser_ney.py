r"""What counting the last few characters says comes next, by Kneser and Ney: the baseline of a model of a text.

With c_k the count of a context and what followed it (of the longest contexts as they are, of shorter ones the number of
different tokens that stand before them), n_j the number of those with count j, and D(c) what is taken off,

    p_k(y | x) = (c_k(x y) - D_k(c_k(x y))) / c_k(x) + taken(x) / c_k(x) p_{k-1}(y | x without its first),
    D(c) = c - (c + 1) Y n_{c+1} / n_c,    Y = n_1 / (n_1 + 2 n_2),    D(c) = D(3) from 3 on,

down to the uniform distribution; taken(x) adds up D over all that followed x.

References: Kneser and Ney (ICASSP 1995); Chen and Goodman, An empirical study of smoothing techniques for language
modeling (1998), section 3.
"""

from __future__ import annotations

import math

import numpy as np

from stablessm.tasks.scores import Scores, summary
from stablessm.tasks.task import Split, Task

ORDER = 7


def kneser_ney_scores(task: Task, split: Split) -> Scores:
    """Return how well pieces of up to seven tokens do on the rows of a split, read as the one text they are cut from.

    A row has what stands before it here, which a network that begins anew at each row has not.

    Args:
        task: a text.
        split: whose rows.
    """
    train, rows = (np.asarray(task.splits[name].inputs) for name in ("train", split))
    order = min(ORDER, math.floor(63 * math.log(2) / math.log(max(2, task.tokens)) - 1e-9) - 1)
    chances = kneser_ney(train.ravel(), rows.ravel(), task.tokens, order=order)
    losses = -np.log(chances).reshape(rows.shape).mean(1)
    return summary(task, split, losses, np.zeros(len(losses), bool))


def kneser_ney(train: np.ndarray, text: np.ndarray, tokens: int, *, order: int = ORDER) -> np.ndarray:
    """Return the probability of every token of a text after those before it, shape (steps,).

    The first tokens of the text have fewer before them.

    Args:
        train: the text that is counted, token numbers, shape (n,).
        text: the one that is asked about, shape (steps,).
        tokens: size of the vocabulary.
        order: tokens of the longest piece that is counted, what follows among them.

    Raises:
        ValueError: an order below 1, or so many pieces that 64 bits do not tell them apart.

    Example:
        >>> kneser_ney(np.array([0, 1] * 9), np.array([0, 1, 0]), 2, order=3).round(2)[1:].min() > 0.9
        np.True_
    """
    if order < 1 or tokens ** (order + 1) >= 2**63:
        raise ValueError(f"`order` must be at least 1 and {tokens}^(order + 1) below 2^63, but got {order}")
    train, text = np.asarray(train, np.int64), np.asarray(text, np.int64)
    chance = np.full(len(text), 1 / tokens)
    for length in range(1, min(order, len(train)) + 1):
        if length < order and length < len(train):  # how many tokens stand before each piece
            pieces, counts = np.unique(
                np.unique(_pieces(train, length + 1, tokens)) % tokens**length, return_counts=True
            )
        else:
            pieces, counts = np.unique(_pieces(train, length, tokens), return_counts=True)
        taken = _discounts(counts)[np.minimum(counts, 3)]
        contexts, place = np.unique(pieces // tokens, return_inverse=True)
        total, left = np.bincount(place, counts), np.bincount(place, taken)
        asked = _pieces(text, length, tokens)
        here, both = _found(contexts, asked // tokens), _found(pieces, asked)
        kept = np.where(both >= 0, counts[both] - taken[both], 0)
        mixed = (kept + left[here] * chance[length - 1 :]) / total[here]
        chance[length - 1 :] = np.where(here >= 0, mixed, chance[length - 1 :])
    return chance


def _pieces(text: np.ndarray, length: int, tokens: int) -> np.ndarray:
    """The pieces of a length as numbers, the last token the lowest digit, shape (n - length + 1,)."""
    found = np.zeros(max(0, len(text) - length + 1), np.int64)
    for place in range(length):
        found = found * tokens + text[place : place + len(found)]
    return found


def _discounts(counts: np.ndarray) -> np.ndarray:
    """D(0) = 0, D(1), D(2), D(3); half a count where too few are counted to tell."""
    number = np.bincount(np.minimum(counts, 5), minlength=6).astype(float)
    if not number[1:5].all():
        return np.array([0, 0.5, 0.5, 0.5])
    share = number[1] / (number[1] + 2 * number[2])
    found = [count - (count + 1) * share * number[count + 1] / number[count] for count in (1, 2, 3)]
    return np.array([0, *(np.clip(one, 0.01, count) for count, one in enumerate(found, 1))])


def _found(known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[place] == asked, place, -1)
