r"""A bound on |d ln|f|/dw| for every weight, proved by interval arithmetic.

ln m has the slope r(w), m the margin. Where r is a rational function of the weight, as for every product of powers of
polynomials, the line is covered by [-X, X] and by w = 1/u with u in [-1/X, 1/X]; each part is halved until the
enclosure of r on it lies within [-K, K]. The bound is then proved, and with it Definition 3.2, g(beta) =
e^{K beta} - 1.
"""

from __future__ import annotations

import sympy
from mpmath import iv

from stablessm.calculus.enclosure import enclose
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.domain import exact_constants
from stablessm.theory.problem import W

_EDGE = 16
_MOST = 6000
"""Enclosures tried before the proof gives up."""


def enclosures_for(parameterization: Parameterization, bound: float) -> int | None:
    """Return the number of enclosures that prove |d ln m/dw| <= bound for every weight; None where they do not.

    Args:
        parameterization: the map, every constant with a value.
        bound: K.

    Example:
        >>> best = Parameterization.from_formula("1/(w^2 + 1)")
        >>> enclosures_for(best, 0.99) is None, enclosures_for(best, 1.001) is None
        (True, False)
    """
    slope = _slope(parameterization)
    if slope is None:
        return None
    inverse = sum((sympy.cancel(term.subs(W, 1 / W)) for term in sympy.Add.make_args(slope)), sympy.S.Zero)
    waiting = [(slope, iv.mpf(ends)) for ends in ([-_EDGE, 0], [0, _EDGE])]
    waiting += [(inverse, iv.mpf(ends) / _EDGE) for ends in ([-1, 0], [0, 1])]
    tried = 0
    while waiting and tried < _MOST:
        expression, part = waiting.pop()
        tried += 1
        try:
            value = enclose(expression, {W: part})
            if -bound <= value.a and value.b <= bound:
                continue
            if value.a > bound or value.b < -bound:
                return None
        except ArithmeticError:  # a denominator that may be 0 on the part, and is not on its halves
            pass
        middle = iv.mpf(part.mid)
        waiting += [(expression, iv.mpf([part.a, middle.b])), (expression, iv.mpf([middle.a, part.b]))]
    return None if waiting else tried


def _slope(parameterization: Parameterization) -> sympy.Expr | None:
    """r as a sum of rational terms; None where it is none, or the margin is not s."""
    if parameterization.link == "exponential":
        return None
    if parameterization.link == "one-minus" and parameterization.image.upper > 1:
        return None
    decay = parameterization.expression.subs(exact_constants(parameterization))
    slope = sympy.diff(sympy.expand_log(sympy.log(decay), force=True), W)
    terms = [sympy.cancel(term) for term in sympy.Add.make_args(slope)]
    return sum(terms, sympy.S.Zero) if all(term.is_rational_function(W) for term in terms) else None
