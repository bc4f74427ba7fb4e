"""Cutting the real line where a map stops being smooth.

A decay may hold Abs, Max and Min (kinks), logarithms, roots and quotients (gaps). `pieces_of` returns open intervals
that cover the line up to finitely many points; on each the expression is smooth, or it has no real value at all.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import sympy

from stablessm.theory.outcomes import Undecided
from stablessm.theory.signs import sign_on
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
    expression: sympy.Expr, w: sympy.Symbol, lower: sympy.Expr = -sympy.oo, upper: sympy.Expr = sympy.oo
) -> tuple[Piece, ...]:
    """Cut (lower, upper) into open intervals on which `expression` is smooth or undefined.

    Raises:
        Undecided: a switching point or a gap could not be located for all values of the constants.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> [(p.lower, p.upper, p.expression) for p in pieces_of(sympy.Abs(w), w)]
        [(-oo, 0, -w), (0, oo, w)]
    """
    kink = next((node for node in sympy.postorder_traversal(expression) if _is_kink(node, w)), None)
    if kink is None:
        return tuple(_defined_pieces(expression, w, lower, upper))
    first, *others = kink.args
    switch = first - others[0] if others else first
    result: list[Piece] = []
    for part in pieces_of(switch, w, lower, upper):
        if part.expression is None:
            result.append(part)
            continue
        for cell, sign in signed_cells(part, w):
            resolved = expression.xreplace({kink: _resolved(kink, sign)})
            result += pieces_of(resolved, w, cell.lower, cell.upper)
    return tuple(result)


def signed_cells(part: Piece, w: sympy.Symbol) -> list[tuple[Piece, int]]:
    """The piece cut at the zeros of its expression, each cell with the sign (-1, 0 or 1) that holds on it.

    Raises:
        Undecided: the zeros, or a sign between two of them, could not be established.
    """
    sign = sign_on(part.expression, w, part.lower, part.upper)
    if sign is not None:
        return [(part, sign)]
    cells = []
    for cell in part.split(zeros_on(part.expression, w, part.lower, part.upper)):
        sign = sign_on(cell.expression, w, cell.lower, cell.upper)
        if sign is None:
            raise Undecided(f"the sign of {cell.expression} on ({cell.lower}, {cell.upper})")
        cells.append((cell, sign))
    return cells


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


def _restrictions(expression, w):
    """Sub-expressions that must be positive (True) or only non-zero (False), innermost first."""
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, sympy.log) and w in node.free_symbols:
            yield node.args[0], True
        elif isinstance(node, sympy.Pow) and not isinstance(node, sympy.exp) and w in node.free_symbols:
            if not node.exp.is_integer:
                yield node.base, True
            elif not node.exp.is_nonnegative:
                yield node.base, False


def _defined_pieces(expression, w, lower, upper):
    parts = [Piece(lower, upper, expression)]
    for inner, positive in dict.fromkeys(_restrictions(expression, w)):
        following: list[Piece] = []
        for part in parts:
            if part.expression is None:
                following.append(part)
                continue
            for cell, sign in signed_cells(Piece(part.lower, part.upper, inner), w):
                real = sign > 0 or (not positive and sign != 0)
                following.append(Piece(cell.lower, cell.upper, expression if real else None))
        parts = following
    return parts
