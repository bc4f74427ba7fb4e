"""Normal forms and one-sided limits of a smooth expression of one real variable."""

from functools import lru_cache

import sympy
from sympy.core.function import AppliedUndef

from stablessm.theory.outcomes import Undecided

_INFINITE = (sympy.oo, -sympy.oo)


@lru_cache(maxsize=4096)
def normal(expression: sympy.Expr) -> sympy.Expr:
    """A factored quotient: hyperbolic functions as exponentials, one fraction, factored over the rationals.

    `1 - tanh(w)` becomes `2/(exp(2 w) + 1)`: what cancels is cancelled before a sign or a number is read off.
    """
    rewritten = expression.rewrite((sympy.sinh, sympy.cosh, sympy.tanh), sympy.exp)
    rewritten = sympy.powsimp(sympy.together(rewritten.replace(_is_log_of_power, _open_log)))
    try:
        return sympy.factor(rewritten)
    except sympy.PolynomialError:
        return rewritten


@lru_cache(maxsize=512)
def tidy(expression: sympy.Expr) -> sympy.Expr:
    """The shortest of a few equal forms of an expression."""
    forms = [expression, normal(expression), sympy.simplify(expression)]
    return min(forms, key=lambda form: (form.count_ops(), len(str(form))))


def _is_log_of_power(node: sympy.Basic) -> bool:
    return isinstance(node, sympy.log) and isinstance(node.args[0], (sympy.exp, sympy.Pow))


def _open_log(node: sympy.Basic) -> sympy.Expr:
    """log e^x = x for real x, and log x^p = p log x for x > 0."""
    argument = node.args[0]
    if isinstance(argument, sympy.exp):
        return argument.args[0] if argument.args[0].is_real else node
    return argument.exp * sympy.log(argument.base) if argument.base.is_positive else node


@lru_cache(maxsize=4096)
def limit_at(expression: sympy.Expr, variable: sympy.Symbol, point: sympy.Expr, side: str) -> sympy.Expr:
    """The one-sided limit of `expression` as `variable` tends to `point` from `side` ("+" from above).

    Substitution is tried first: an elementary expression with a finite value is continuous there.

    Returns:
        An expression of the constants, or plus or minus infinity.

    Raises:
        Undecided: no limit was found, or it depends on an assumption about the constants.
    """
    if variable not in expression.free_symbols:
        return expression
    if point not in _INFINITE:
        value = _substituted(expression, variable, point)
        if value is not None:
            return value
    if point in _INFINITE:
        u = sympy.Symbol("u", positive=True)
        powers = in_exponentials(normal(expression), variable, u)
        if powers is not None and variable not in powers.free_symbols:
            return limit_at(powers, u, sympy.oo if point is sympy.oo else sympy.Integer(0), side)
    for form in dict.fromkeys((expression, normal(expression))):
        try:
            value = sympy.limit(form, variable, point, "-" if side == "-" else "+")
        except (NotImplementedError, ValueError, TypeError, AttributeError, RecursionError, ArithmeticError):
            continue
        if _usable(value, variable):
            return value
    raise Undecided(f"the limit of {expression} as w tends to {point}")


def _substituted(expression, variable, point):
    value = expression.subs(variable, point)
    finite = not value.has(sympy.oo, -sympy.oo, sympy.zoo, sympy.nan, sympy.AccumBounds)
    return value if finite and value.is_real is not False and not value.has(sympy.I) else None


def _usable(value, variable) -> bool:
    if value in _INFINITE:
        return True
    unusable = (sympy.Limit, sympy.AccumBounds, sympy.zoo, sympy.nan, sympy.I, sympy.oo, -sympy.oo, AppliedUndef)
    return variable not in value.free_symbols and not value.has(*unusable)


def in_exponentials(h: sympy.Expr, variable: sympy.Symbol, base: sympy.Expr) -> sympy.Expr | None:
    """`h` with exp(k variable + c) written as base^k e^c, or None where `h` holds no such exponential of integer k."""
    found = False

    def rewritten(node):
        nonlocal found
        rate = sympy.diff(node.args[0], variable)
        if not rate.is_Integer:
            return node
        found = True
        return base**rate * sympy.exp(sympy.expand(node.args[0] - rate * variable))

    result = h.replace(lambda node: isinstance(node, sympy.exp) and variable in node.free_symbols, rewritten)
    return result if found else None
