"""Cutting the real line where a map stops being smooth.

A decay may hold Abs, Max and Min (kinks), logarithms, roots and quotients (gaps). `pieces_of` returns open intervals
that cover the line up to finitely many points; on each the expression is smooth, or it has no real value at all.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import sympy

from stablessm.calculus.limits import limit_at, normal
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.problem import Restriction
from stablessm.theory.restrictions import is_real, restrictions_in
from stablessm.theory.signs import constant_sign, inner_points, sign_on
from stablessm.theory.zeros import zeros_on

_KINKS = (sympy.Abs, sympy.Max, sympy.Min, sympy.sign)


@dataclass(frozen=True)
class Piece:
    """An open interval with the smooth expression that holds on it.

    Attributes:
        lower: lower end, exact or minus infinity.
        upper: upper end.
        expression: an expression without kinks, or None where the map has no real value.
    """

    lower: sympy.Expr
    upper: sympy.Expr
    expression: sympy.Expr | None

    def split(self, points: tuple[sympy.Expr, ...]) -> "list[Piece]":
        """The piece cut at increasing interior points."""
        ends = [self.lower, *points, self.upper]
        return [Piece(low, high, self.expression) for low, high in pairwise(ends)]


@lru_cache(maxsize=512)
def pieces_of(
    expression: sympy.Expr,
    w: sympy.Symbol,
    lower: sympy.Expr = -sympy.oo,
    upper: sympy.Expr = sympy.oo,
    restrictions: tuple[Restriction, ...] = (),
) -> tuple[Piece, ...]:
    """Cut (lower, upper) into open intervals on which `expression` is smooth or undefined.

    Gaps come first: once a kink is resolved, 0 times something without a value has become 0.

    Args:
        expression: what is cut.
        w: its variable.
        lower: lower end.
        upper: upper end.
        restrictions: demands on the variable beyond those that the expression shows.

    Raises:
        Undecided: a switching point or a gap could not be located for all values of the constants.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> [(p.lower, p.upper, p.expression) for p in pieces_of(sympy.Abs(w), w)]
        [(-oo, 0, -w), (0, oo, w)]
    """
    result: list[Piece] = []
    for part in _defined(expression, w, lower, upper, restrictions):
        result += [part] if part.expression is None else _smooth(part, w)
    return tuple(result)


def _smooth(part: Piece, w: sympy.Symbol) -> list[Piece]:
    """A piece on which the expression has a value, cut at its kinks."""
    expression = part.expression
    kink = next((node for node in sympy.postorder_traversal(expression) if _is_kink(node, w)), None)
    if kink is None:
        return [Piece(part.lower, part.upper, _without_powers(expression, w))]
    first, *others = kink.args
    switch = first - others[0] if others else first
    result: list[Piece] = []
    for inner in _smooth(Piece(part.lower, part.upper, switch), w):
        for cell, sign in signed_cells(inner, w):
            resolved = expression.xreplace({kink: _resolved(kink, sign)})
            result += _smooth(Piece(cell.lower, cell.upper, resolved), w)
    return result


def _without_powers(expression, w):
    """Powers that hold the variable in base and exponent as exponentials; their base is positive on a piece."""
    return expression.replace(
        lambda node: node.is_Pow and not isinstance(node, sympy.exp) and node.exp.has(w),
        lambda node: sympy.exp(node.exp * sympy.log(node.base)),
    )


def signed_cells(part: Piece, w: sympy.Symbol) -> list[tuple[Piece, int]]:
    """The piece cut at the zeros of its expression, each cell with the sign (-1, 0 or 1) that holds on it.

    Raises:
        Undecided: the zeros, or a sign between two of them, could not be established.
    """
    sign = sign_on(part.expression, w, part.lower, part.upper)
    if sign is not None:
        return [(part, sign)]
    cells = []
    try:
        zeros = zeros_on(part.expression, w, part.lower, part.upper)
    except Undecided:
        sign = _sign_by_critical_values(part, w)
        if sign is None:
            raise
        return [(part, sign)]
    for cell in part.split(zeros):
        sign = sign_on(cell.expression, w, cell.lower, cell.upper)
        if sign is None:  # the zeros are all of them, so that one value decides
            sign = constant_sign(cell.expression.subs(w, inner_points(cell.lower, cell.upper)[1])) or None
        if sign is None:
            raise Undecided(f"the sign of {cell.expression} on ({cell.lower}, {cell.upper})")
        cells.append((cell, sign))
    return cells


def _sign_by_critical_values(part: Piece, w: sympy.Symbol) -> int | None:
    """The sign of an expression whose zeros are not found: that of all its critical values and of its end limits.

    Between neighbouring critical points it is monotone and lies between the values there.
    """
    slope = normal(sympy.diff(part.expression, w))
    try:
        inner = [constant_sign(part.expression.subs(w, p)) for p in zeros_on(slope, w, part.lower, part.upper)]
        ends = [limit_at(part.expression, w, part.lower, "+"), limit_at(part.expression, w, part.upper, "-")]
    except Undecided:
        return None
    ends = [constant_sign(end) for end in ends]
    return next((s for s in (1, -1) if all(one == s for one in inner) and all(one in (0, s) for one in ends)), None)


def _is_kink(node, w) -> bool:
    return isinstance(node, _KINKS) and w in node.free_symbols


def _resolved(kink, sign):
    if isinstance(kink, sympy.Abs):
        return kink.args[0] * (sign if sign else 0)
    if isinstance(kink, sympy.sign):
        return sympy.Integer(sign)
    first, second, *rest = kink.args
    takes_first = sign >= 0 if isinstance(kink, sympy.Max) else sign <= 0
    return kink.func(first if takes_first else second, *rest)


def _defined(expression, w, lower, upper, restrictions):
    parts = [Piece(lower, upper, expression)]
    for inner, exponent in dict.fromkeys([*restrictions, *restrictions_in(expression, w)]):
        following: list[Piece] = []
        for part in parts:
            if part.expression is None:
                following.append(part)
                continue
            for piece in pieces_of(inner, w, part.lower, part.upper):
                if piece.expression is None:
                    following.append(piece)
                    continue
                for cell, sign in signed_cells(piece, w):
                    real = is_real(sign, exponent, w)
                    following.append(Piece(cell.lower, cell.upper, expression if real else None))
        parts = _joined(following)
    return parts


def _joined(parts: list[Piece]) -> list[Piece]:
    """Neighbours without a value as one gap."""
    result: list[Piece] = []
    for part in parts:
        if result and part.expression is None and result[-1].expression is None:
            part = Piece(result.pop().lower, part.upper, None)
        result.append(part)
    return result
