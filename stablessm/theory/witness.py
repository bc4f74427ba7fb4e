"""A counter-example from an exact weight."""

import math
import sys

import sympy

from stablessm.calculus.enclosure import value_at
from stablessm.theory.problem import Problem, W
from stablessm.theory.restrictions import undefined_at
from stablessm.theory.signs import constant_sign
from stablessm.theory.statement import CounterExample


def counterexample_at(problem: Problem, weight: sympy.Expr, values: dict) -> CounterExample:
    """The counter-example at a weight, its eigenvalue computed by interval arithmetic.

    Args:
        problem: the map.
        weight: an exact weight, an expression of the constants.
        values: values of all its constants; those not among the problem's own are recorded.
    """
    point = weight.subs(values)
    try:
        eigenvalue = None if undefined_at(problem, point, values) else _eigenvalue(problem, point, values)
    except ArithmeticError:
        eigenvalue = None
    names, given = dict(problem.names), dict(problem.values)
    chosen = sorted((names[symbol], float(value)) for symbol, value in values.items() if symbol not in given)
    return CounterExample(float(value_at(point, {})) + 0.0, eigenvalue, tuple(chosen))


def is_representable(problem: Problem, weight: sympy.Expr, values: dict) -> bool:
    """Whether the eigenvalue at a weight is a number that float64 holds: neither infinite nor rounded to 0."""
    try:
        eigenvalue = float(value_at(problem.eigenvalue, values | {W: weight}))
    except ArithmeticError:
        return False
    return math.isfinite(eigenvalue) and eigenvalue != 0


def _eigenvalue(problem: Problem, point: sympy.Expr, values: dict) -> float:
    """The eigenvalue at a weight: 0 where it is exactly that, not the middle of an interval around it."""
    middle = value_at(problem.eigenvalue, values | {W: point})
    exact = problem.eigenvalue.subs(values).subs(W, point)
    if constant_sign(exact) == 0:
        return 0.0
    return min(max(float(middle), -sys.float_info.max), sys.float_info.max) + 0.0
