"""The values that decide the range of a map: what it attains, and what it only approaches.

Between two neighbouring critical points or breaks a smooth map is strictly monotone (or constant), so it takes exactly
the values strictly between its limits there. Its range is therefore known from the finitely many values below.
"""

from dataclasses import dataclass

import sympy

from stablessm.theory.enclosure import enclose
from stablessm.theory.limits import limit_at, normal
from stablessm.theory.outcomes import Undefined
from stablessm.theory.pieces import Piece
from stablessm.theory.signs import TRIAL_VALUES, constant_sign, inner_points
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
        for point in zeros_on(slope, w, piece.lower, piece.upper):
            found.append(Extreme(normal(smooth.subs(w, point)), point, True))
        for end, side in ((piece.lower, "+"), (piece.upper, "-")):
            value = limit_at(smooth, w, end, side)
            found.append(Extreme(value, end, end not in _INFINITE and _takes(whole, w, end, value), side))
    return list({(e.value, e.weight, e.attained): e for e in found}.values())


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
