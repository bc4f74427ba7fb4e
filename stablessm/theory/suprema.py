"""The supremum of a quantity where no closed form of it was found, between two numbers.

The ends of a piece are enclosed by `ends.py`. What is left is cut into boxes; a box whose upper bound lies below a
value that is attained elsewhere is dropped, the others are halved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mpmath
import numpy as np
import sympy

from stablessm.calculus.boxes import evaluator
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounds import Bound, Quantity
from stablessm.theory.ends import near_end
from stablessm.theory.problem import W

TOLERANCE = 1e-5
"""Relative width at which a search ends."""

REACHES = (16, 64, 512, 8192)
"""Distances from 0 at which the search gives way to the bounds at infinity."""

_WIDTHS = tuple(sympy.Rational(1, 2**power) for power in (10, 20, 30, 40))
_FIRST, _MOST, _ROUNDS = 512, 20_000, 40
_INFINITE = (sympy.oo, -sympy.oo)


@dataclass(frozen=True)
class Enclosed:
    """A supremum between two numbers.

    Attributes:
        lower: a value that is attained or approached.
        upper: a bound.
        weight: where the lower one was found; infinite where it is a limit there.
    """

    lower: float
    upper: float
    weight: float

    def where(self) -> str:
        """Where the lower number is found, in words."""
        if math.isinf(self.weight):
            return f"as w -> {'oo' if self.weight > 0 else '-oo'}"
        return f"near w = {self.weight:.6g}"

    def text(self) -> str:
        """The interval, its ends rounded outwards to seven digits."""
        return f"[{rounded(self.lower, down=True)}, {rounded(self.upper, down=False)}]"


def above(value: mpmath.mpf) -> float:
    """The number as a float, rounded up."""
    nearest = float(value)
    return nearest if mpmath.mpf(nearest) >= value else math.nextafter(nearest, math.inf)


def rounded(value: float, *, down: bool) -> str:
    """A positive number with seven digits, rounded to one side."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 6)
    units = (math.floor if down else math.ceil)(value / step)
    text = f"{units * step:.7g}"
    return text if (float(text) <= value if down else float(text) >= value) else repr(value)


def supremum_of(pieces: list[Quantity], bound: Bound) -> Enclosed:
    """The supremum of |q| over all pieces; no constants may be left.

    Args:
        pieces: the quantity.
        bound: what is known of it; its limits count as values that are approached.

    Raises:
        Undecided: an end could not be enclosed.
    """
    lower, weight = 0.0, math.nan
    for _, point, _, limit in bound.limits:
        if not limit.free_symbols and limit not in _INFINITE:
            known = -above(-mpmath.mpf(abs(enclose(limit, {})).a))
            if known > lower:
                lower, weight = known, float(point)
    upper = 0.0
    for piece in pieces:
        if piece.enclosable == 0:
            continue
        found = _on_piece(piece, lower)
        upper = max(upper, found.upper)
        if found.lower > lower:
            lower, weight = found.lower, found.weight
    return Enclosed(lower, max(upper, lower), weight)


def _on_piece(piece: Quantity, lower: float) -> Enclosed:
    best = None
    for reach, width in zip(REACHES, _WIDTHS, strict=True):
        try:
            found = _with_reach(piece, sympy.Integer(reach), width, lower)
        except Undecided:
            if best is None:
                raise
            break
        if best is None or found.upper < best.upper:
            best = found
        if best.upper <= max(best.lower, lower) * (1 + TOLERANCE):
            break
    return best


def _with_reach(piece, reach, nearest, lower):
    ends, outside = [], 0.0
    for end, side in ((piece.lower, "+"), (piece.upper, "-")):
        if end in _INFINITE:
            place = reach if end is sympy.oo else -reach
            if not (piece.lower < place < piece.upper):
                place = (piece.lower if end is sympy.oo else piece.upper) + place
        else:
            width = min(nearest, (piece.upper - piece.lower) / 4)
            place = end + width if side == "+" else end - width
        low, high = near_end(piece.enclosable, end, side, place)
        outside = max(outside, above(-low), above(high))
        ends.append(place)
    box = [enclose(end, {}) for end in ends]
    core = largest_on(piece.enclosable, float(box[0].a), float(box[1].b), lower)
    return Enclosed(core.lower, max(core.upper, outside), core.weight)


def largest_on(expression: sympy.Expr, low: float, high: float, lower: float = 0.0) -> Enclosed:
    """The largest modulus of an expression on a closed interval.

    Args:
        expression: an expression of the weight.
        low: lower end.
        high: upper end.
        lower: a value known to be reached elsewhere; what lies below it is not resolved.
    """
    evaluate = evaluator(expression, W)
    ends = np.linspace(low, high, _FIRST + 1)
    left, right = ends[:-1], ends[1:]
    own, weight, upper = 0.0, math.nan, math.inf
    for _ in range(_ROUNDS):
        middle = (left + right) / 2
        at, over = _moduli(evaluate(middle, middle)), _moduli(evaluate(left, right))
        place = int(np.argmax(at[0]))
        if at[0][place] > own:
            own, weight = float(at[0][place]), float(middle[place])
        upper = float(over[1].max())
        known = max(own, lower)
        kept = over[1] > known
        if upper <= known * (1 + TOLERANCE) or kept.sum() > _MOST:
            break
        left, middle, right = left[kept], middle[kept], right[kept]
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    if not math.isfinite(upper):
        raise Undecided(f"bounds of {expression} between {low:g} and {high:g}")
    return Enclosed(own, max(upper, own), weight)


def _moduli(box):
    low, high = np.abs(box[0]), np.abs(box[1])
    return np.where((box[0] <= 0) & (box[1] >= 0), 0.0, np.minimum(low, high)), np.maximum(low, high)
