"""Which rows are held out: a function of a seed alone, the same on every machine and with every version of NumPy."""

from __future__ import annotations

import numpy as np

from stablessm.data.registry import DataError


def shuffled(count: int, seed: int) -> np.ndarray:
    """Return a permutation of 0 to count - 1.

    It is the order of raw 64-bit draws of PCG64, whose stream NumPy promises to keep; that of its own permutations may
    change.

    Args:
        count: how many.
        seed: an integer of at least 0.

    Example:
        >>> sorted(shuffled(5, 0).tolist())
        [0, 1, 2, 3, 4]
    """
    return np.argsort(np.random.PCG64(seed).random_raw(count), kind="stable")


def held_out(labels: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (kept, held out): row numbers, ascending; of each class the share is held out, and at least one row stays.

    Args:
        labels: class of each row, shape (rows,).
        share: in [0, 1).
        seed: of the draw.

    Raises:
        DataError: a share out of range.
    """
    if not 0 <= share < 1:
        raise DataError(f"a share that is held out must lie in [0, 1), but got {share}")
    order = shuffled(len(labels), seed)
    out = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        rows = order[labels[order] == label]
        out[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return np.flatnonzero(~out), np.flatnonzero(out)


def in_order(count: int, *, validation: float, test: float) -> tuple[slice, slice, slice]:
    """Return the parts of a text or series: the last share is the test part, the one before it validation.

    Args:
        count: characters or steps.
        validation: share of all.
        test: share of all.

    Raises:
        DataError: shares out of range, or a part of nothing.
    """
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise DataError(f"the shares of validation and test must lie in (0, 1) and leave a part to train on, but got "
                        f"{validation} and {test}")  # fmt: skip
    first, second = count - round(count * test) - round(count * validation), count - round(count * test)
    if not 0 < first < second < count:
        raise DataError(f"{count} characters or steps are too few to be split into training, validation and test")
    return slice(0, first), slice(first, second), slice(second, count)
