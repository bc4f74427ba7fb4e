"""The values that decide the range of a map: what it attains, and what it only approaches.

Between two neighbouring critical points or breaks a smooth map is strictly monotone (or constant), so it takes exactly
the values strictly between its limits there. Its range is therefore known from the finitely many values below.
"""

from dataclasses import dataclass
from itertools import pairwise

import sympy

from stablessm.calculus.approach import TRIAL_VALUES, trials
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.limits import limit_at, normal
from stablessm.calculus.outcomes import Undecided, Undefined
from stablessm.theory.pieces import Piece
from stablessm.theory.signs import constant_sign, inner_points
from stablessm.theory.zeros import zeros_on

_INFINITE = (sympy.oo, -sympy.oo)


@dataclass(frozen=True)
class Extreme:
    """A value at a critical point or at an end of a piece.

    Attributes:
        value: the value or the limit, an expression of the constants; may be infinite.
        weight: where; may be infinite.
        attained: whether the map takes the value there (or everywhere on a piece, where it is constant).
        side: "+" or "-" for a limit from above or below, "" at an interior point.
        span: the ends of the piece on which the map is constant, where it is.
    """

    value: sympy.Expr
    weight: sympy.Expr
    attained: bool
    side: str = ""
    span: tuple[sympy.Expr, sympy.Expr] | None = None


def extremes_of(whole: sympy.Expr, pieces: tuple[Piece, ...], w: sympy.Symbol) -> list[Extreme]:
    """All critical values and end limits of a map given in pieces.

    Args:
        whole: the map's one expression, used to see which ends of pieces attain the limit.
        pieces: smooth pieces; undefined ones are skipped.
        w: the weight.

    Raises:
        Undecided: a critical point or a limit was not found.
    """
    found: list[Extreme] = []
    for piece in pieces:
        if piece.expression is None:
            continue
        smooth, slope = piece.expression, normal(sympy.diff(piece.expression, w))
        if slope == 0:
            span = (piece.lower, piece.upper)
            found.append(Extreme(normal(smooth), inner_points(*span)[1], True, span=span))
            continue
        inner = [
            Extreme(normal(smooth.subs(w, point)), point, True)
            for point in zeros_on(slope, w, piece.lower, piece.upper)
        ]
        ends = []
        for end, side in ((piece.lower, "+"), (piece.upper, "-")):
            value = limit_at(smooth, w, end, side)
            ends.append(Extreme(value, end, end not in _INFINITE and _takes(whole, w, end, value), side))
        _check_monotone(smooth, w, [ends[0], *inner, ends[1]])
        found += inner + ends
    return list({(e.value, e.weight, e.attained): e for e in found}.values())


def _check_monotone(smooth, w, extremes):
    """Between neighbours the map is strictly monotone: equal values there, or a value outside them, are an error.

    Raises:
        Undecided: a limit or the list of critical points is wrong.
    """
    for low, high in pairwise(extremes):
        if low.value == high.value:
            raise Undecided(f"a map that is strictly monotone from {low.weight} to {high.weight}, with equal ends")
        for values in trials((smooth.free_symbols | low.weight.free_symbols | high.weight.free_symbols) - {w}, 2):
            for point in inner_points(low.weight, high.weight):
                if not _between(smooth, low.value, high.value, values | {w: point.subs(values)}):
                    raise Undecided(f"the values of {smooth} between {low.weight} and {high.weight}")


def _between(smooth, first, second, at) -> bool:
    """Whether nothing speaks against a value lying between two others."""
    gaps = []
    for end in (first, second):
        try:
            gaps.append((1 if end > 0 else -1) if end in _INFINITE else enclose(end - smooth, at))
        except ArithmeticError:
            return True
    above, below = (
        [gap > 0 if isinstance(gap, int) else bool(gap.a > 0) for gap in gaps],
        [gap < 0 if isinstance(gap, int) else bool(gap.b < 0) for gap in gaps],
    )
    return not (all(above) or all(below))


def _takes(whole, w, point, value) -> bool:
    """Whether the map is defined at a break and has the limit as its value there."""
    if value in _INFINITE:
        return False
    constants = sorted((whole.free_symbols | point.free_symbols) - {w}, key=str)
    values = dict(zip(constants, TRIAL_VALUES * len(constants), strict=False))
    try:
        enclose(whole, values | {w: point.subs(values)})
    except Undefined:
        return False
    except ArithmeticError:
        return constant_sign(whole.subs(w, point) - value) == 0
    return True
