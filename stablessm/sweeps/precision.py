"""Numbers at the precision a sweep computes in: what float64 holds and float32 does not is refused before it runs.

A learning rate of 1e-50 is 0 in float32, two rates that differ in the eleventh digit are one, and a subnormal number is
0 on devices that flush it. Each would give a cell that is not the one its coordinate names.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stablessm.sweeps.errors import Where
from stablessm.sweeps.maps import MapEntry

_SMALLEST = {"float32": 2.0**-126, "float64": sys.float_info.min}
_LARGEST = {"float32": (2 - 2.0**-23) * 2.0**127, "float64": sys.float_info.max}


def narrowest(axes: Mapping[str, Sequence[Any]]) -> str:
    """Return the narrowest precision that cells of these axes are computed in."""
    return "float64" if set(axes.get("precision", ())) == {"float64"} else "float32"


def rounded(value: float, precision: str) -> float:
    """Return a finite number as a precision holds it, infinite where it is too large.

    Example:
        >>> rounded(1e-50, "float32"), rounded(1e50, "float32"), rounded(0.5, "float32")
        (0.0, inf, 0.5)
    """
    if precision == "float64":
        return value
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def refuse_lost(what: str, value: float, precision: str, where: Where) -> None:
    """Raise a `SpecError` for a number that becomes 0, subnormal or infinite.

    Args:
        what: what the number is, as the sentence names it.
        value: a finite number.
        precision: "float32" or "float64".
        where: its place.
    """
    size = abs(rounded(value, precision))
    if value == 0 or _SMALLEST[precision] <= size <= _LARGEST[precision]:
        return
    fate = "too large for" if abs(value) > 1 else "too close to 0 for"
    raise where.error(
        f"the {what} {value!r} is {fate} {precision}, the precision of this sweep; choose a size from "
        f"{_SMALLEST[precision]:.2g} to {_LARGEST[precision]:.2g}{_wider(precision)}"
    )


def refuse_lost_axis(name: str, values: Iterable[float], precision: str, where: Where) -> None:
    """Raise a `SpecError` for an axis of real numbers of which one is lost, or two are one number.

    Args:
        name: what the axis is.
        values: finite numbers, no two equal.
        precision: "float32" or "float64".
        where: its place.
    """
    seen: dict[float, float] = {}
    for value in values:
        refuse_lost(name, value, precision, where)
        other = seen.setdefault(rounded(value, precision), value)
        if other != value:
            raise where.error(
                f"{other!r} and {value!r} are one number in {precision}, the precision of this sweep: "
                f"leave one out{_wider(precision)}"
            )


def refuse_lost_constants(entries: Sequence[MapEntry], precision: str, where: Where) -> None:
    """Raise a `SpecError` for maps of which a constant is lost, or two differ by less than the precision."""
    seen: dict[Any, str] = {}
    for entry in entries:
        for name, value in entry.constants.items():
            refuse_lost(f"constant {name} of {entry.label!r}", value, precision, where)
        held = tuple((name, rounded(value, precision)) for name, value in sorted(entry.constants.items()))
        other = seen.setdefault((entry.name, entry.formula, entry.link, held), entry.label)
        if other != entry.label:
            raise where.error(
                f"the maps {other!r} and {entry.label!r} are one in {precision}, the precision of this sweep: "
                f"leave one out{_wider(precision)}"
            )


def refuse_lost_squares(target: str, largest: float, precision: str, where: Where) -> None:
    """Raise a `SpecError` for a target with a largest sample whose square is lost, or a sum of such squares.

    The loss of the zero kernel would be 0 or infinite, and every run collapsed or nonfinite for no fault of the map.
    """
    room = 1e8  # of the largest float, for sums over a horizon and losses of runs that diverge
    lower, upper = (_SMALLEST[precision] * room) ** 0.5, (_LARGEST[precision] / room) ** 0.5
    if not lower <= largest <= upper:
        raise where.error(
            f"the largest sample of the target {target!r} is {largest:.4g}, whose square is too "
            f"{'large for' if largest > upper else 'close to 0 for'} {precision}, the precision of this sweep; choose "
            f"a size from {lower:.2g} to {upper:.2g}{_wider(precision)}"
        )


def _wider(precision: str) -> str:
    return ", or set precision = float64" if precision == "float32" else ""
