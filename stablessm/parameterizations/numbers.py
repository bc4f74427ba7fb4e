"""Numbers as a user gives them: read as finite floats, and quoted in the sentence that refuses them."""

from __future__ import annotations

import math
from typing import Any

_LONGEST = 80


def finite(value: Any) -> float | None:
    """Return a real number as a finite float; None where it is none, bool, nan, infinite or beyond float64.

    Args:
        value: anything; a NumPy scalar counts as the Python number it holds.

    Example:
        >>> finite(3), finite(10**400), finite(True)
        (3.0, None, None)
    """
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def quoted(value: Any) -> str:
    """Return a value as an error shows it: its `repr`, the middle left out where that is long.

    Python refuses to write out an integer of more than some thousand digits, and a list nested too deeply; both are
    described instead.

    Example:
        >>> quoted("a" * 200)
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"
    """
    try:
        text = repr(value)
    except ValueError:
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    except RecursionError:
        return f"a {type(value).__name__} nested too deeply"
    half = (_LONGEST - 3) // 2
    return text if len(text) <= _LONGEST else f"{text[:half]}...{text[len(text) - half - 1 :]}"


def printable(text: str) -> str:
    """Return a text as one line of an error shows it: what cannot be printed becomes its escape.

    Example:
        >>> print(printable("name.\\n"))
        name.\\n
    """
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
