"""The number of steps of a kernel, as every function here takes it."""

from __future__ import annotations

import operator


def whole(length: int) -> int:
    """Return a number of steps as an `int`.

    Raises:
        ValueError: not an integer, or a negative one.
    """
    try:
        steps = operator.index(length)
    except TypeError:
        steps = -1
    if steps < 0:
        raise ValueError(f"`length` must be an integer of at least 0, but got {length!r}")
    return steps
