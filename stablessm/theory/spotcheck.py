"""A bound, held against rigorous numbers at given constants.

What is derived for all constants rests on symbolic steps that treat an expression such as p - 2 as different from 0.
At the values that matter, those given, every limit and the supremum are therefore looked at once more.
"""

import sympy

from stablessm.calculus.approach import contradicts
from stablessm.calculus.enclosure import enclose
from stablessm.theory.bounds import Bound
from stablessm.theory.problem import Problem, W
from stablessm.theory.signs import inner_points


def survives(bound: Bound, values: dict[sympy.Symbol, sympy.Expr]) -> bool:
    """Whether nothing speaks against a bound at the given values of all its constants."""
    for quantity, point, side, limit in bound.limits:
        if contradicts(quantity.enclosable, W, point, side, limit, values):
            return False
    if bound.blow_ups or not bound.values:
        return True
    levels = [enclose(value, values).b for value, _, _ in bound.values]
    for quantity in {quantity for quantity, _, _, _ in bound.limits}:
        for weight in inner_points(quantity.lower, quantity.upper):
            try:
                size = abs(enclose(quantity.enclosable, values | {W: weight.subs(values)}))
            except ArithmeticError:
                continue
            if size.a > max(levels):
                return False
    return True


def values_in(case: Problem, given: dict[sympy.Symbol, sympy.Expr]) -> dict[sympy.Symbol, sympy.Expr]:
    """A value for every constant of a case: the one given, the one it stands for where that is positive, or 1."""
    back = {symbol: meaning.subs(given) for symbol, meaning in case.back}
    known = {symbol: value for symbol, value in back.items() if value.is_number and value > 0} | given
    return {symbol: known.get(symbol, sympy.Integer(1)) for symbol in case.constants}
