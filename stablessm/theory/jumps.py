"""Does a function given in smooth cells continue across their common ends?"""

from collections.abc import Callable
from itertools import pairwise

import sympy

from stablessm.calculus.limits import limit_at
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.domain import Cell
from stablessm.theory.problem import W
from stablessm.theory.signs import constant_sign


def jump_of(cells: tuple[Cell, ...], function: Callable[[Cell], sympy.Expr]) -> tuple[sympy.Expr, ...] | None:
    """The first common end of two cells at which a function has two different finite limits, with the two limits.

    Args:
        cells: stable cells in increasing order.
        function: the function on a cell, as an expression of w.

    Raises:
        Undecided: a limit was not found, or two could not be compared.
    """
    for left, right in pairwise(cells):
        if constant_sign(left.upper - right.lower) != 0:
            continue
        below = limit_at(function(left), W, left.upper, "-")
        above = limit_at(function(right), W, right.lower, "+")
        if below == above or {below, above} & {sympy.oo, -sympy.oo}:
            continue
        sign = constant_sign(below - above)
        if sign is None:
            raise Undecided(f"whether {below} equals {above} at {left.upper}")
        if sign != 0:
            return left.upper, below, above
    return None
