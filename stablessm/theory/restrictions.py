"""Where a formula has a real value: the rule, for a whole interval and for one point.

A formula is taken as it is written. Where one of its parts has no finite real value (the log of a number that is not
positive, a root of a negative number, a division by zero) the map has none, even if the rest would cancel it: w/w and
(exp(w) - 1)/w have no value at 0, sqrt(w)^4 has none for w < 0. A number of arithmetic would not be there either.
"""

from collections.abc import Iterator

import sympy

from stablessm.calculus.outcomes import Undecided
from stablessm.theory.problem import Problem, Restriction, W
from stablessm.theory.signs import constant_sign

_NOWHERE = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I)


def restrictions_in(expression: sympy.Expr, w: sympy.Symbol) -> Iterator[Restriction]:
    """The restrictions that an expression still shows, innermost first."""
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, sympy.log) and w in node.free_symbols:
            yield node.args[0], None
        elif node.is_Pow and not isinstance(node, sympy.exp):
            moves = w in node.base.free_symbols and not _total(node.exp)
            if moves or (node.base.is_negative and w in node.exp.free_symbols):
                yield node.base, node.exp


def is_real(sign: int, exponent: sympy.Expr | None, w: sympy.Symbol) -> bool:
    """Whether x^exponent (log x, if it is None) is real on an interval on which x keeps the given sign.

    Raises:
        Undecided: that depends on the constants in the exponent.
    """
    if sign > 0 or exponent is None:
        return sign > 0
    if sign == 0:
        if exponent.is_nonnegative or exponent.is_negative:
            return not exponent.is_negative
        raise Undecided(f"the sign of the exponent {exponent}")
    if exponent.is_integer or exponent.is_integer is False or w in exponent.free_symbols:
        return bool(exponent.is_integer)
    raise Undecided(f"whether the exponent {exponent} is an integer")


def undefined_at(problem: Problem, point: sympy.Expr, values: dict) -> bool:
    """Whether the formula as written certainly has no real value at a weight."""
    for inner, exponent in problem.restrictions:
        value = inner.subs(values).subs(W, point)
        if value.has(*_NOWHERE):
            return True
        sign = constant_sign(value)
        if sign is None or sign > 0:
            continue
        power = None if exponent is None else exponent.subs(values).subs(W, point)
        if power is None or (sign == 0 and power.is_negative) or (sign < 0 and power.is_integer is False):
            return True
    return False


def _total(exponent: sympy.Expr) -> bool:
    """Whether every real number has this power."""
    return bool(exponent.is_integer and exponent.is_nonnegative)
