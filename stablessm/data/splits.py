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
    """Return (kept, held out): row numbers, ascending; the share of all rows, and of each class as near as can be.

    At least one row of each class stays, and of a share above 0 at least one row is held out where one can be.

    Args:
        labels: class of each row, shape (rows,).
        share: in [0, 1).
        seed: of the draw.

    Raises:
        DataError: a share or seed out of range.
    """
    if not 0 <= share < 1:
        raise DataError(f"a share that is held out must lie in [0, 1), but got {share}")
    if not 0 <= seed < 2**32:
        raise DataError(f"`seed` must be an integer from 0 to {2**32 - 1}, but got {seed}")
    _, class_of, counts = np.unique(labels, return_inverse=True, return_counts=True)
    wanted = share * counts
    taken = np.minimum(np.floor(wanted).astype(int), counts - 1)
    total = max(round(share * len(labels)), 1 if share else 0)
    for place in np.argsort(np.floor(wanted) - wanted, kind="stable"):  # those that lost most by rounding down
        if taken.sum() < total and taken[place] < counts[place] - 1:
            taken[place] += 1
    order = shuffled(len(labels), seed)
    out = np.zeros(len(labels), bool)
    for place, count in enumerate(taken):
        out[order[class_of[order] == place][:count]] = True
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
