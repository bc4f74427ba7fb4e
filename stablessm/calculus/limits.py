"""Normal forms and one-sided limits of a smooth expression of one real variable."""

from functools import lru_cache

import sympy

from stablessm.calculus.approach import contradicts
from stablessm.calculus.exponentials import in_exponentials, in_units
from stablessm.calculus.orders import limit_by_orders
from stablessm.calculus.outcomes import SYMPY_GAVE_UP, Undecided

_INFINITE = (sympy.oo, -sympy.oo)


@lru_cache(maxsize=4096)
def normal(expression: sympy.Expr) -> sympy.Expr:
    """A factored quotient: hyperbolic functions as exponentials, one fraction, factored over the rationals.

    `1 - tanh(w)` becomes `2/(exp(2 w) + 1)`: what cancels is cancelled before a sign or a number is read off.
    """
    rewritten = expression.rewrite((sympy.sinh, sympy.cosh, sympy.tanh), sympy.exp)
    rewritten = sympy.powsimp(sympy.together(rewritten.replace(_is_log_of_power, _open_log)))
    short = in_units(rewritten)
    if short is None:
        return rewritten
    form, meanings = short
    try:
        return sympy.factor(form).xreplace(meanings)
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
        u = sympy.Symbol(f"u{variable.name}", positive=True)  # another one in an exponential of an exponential
        powers = in_exponentials(normal(expression), variable, u)
        if powers is not None and variable not in powers[0].free_symbols:
            end = sympy.oo if point is sympy.oo else sympy.Integer(0)
            return limit_at(powers[0], u, end, "+" if end == 0 else "-")
    forms = dict.fromkeys((expression, normal(expression)))
    for form in forms:
        value = limit_by_orders(form, variable, point, side)
        if value is not None:
            return value
    if not any(_holds_symbolic_power(form, variable) for form in forms):
        for form in forms:
            try:
                value = sympy.limit(form, variable, point, "-" if side == "-" else "+")
            except SYMPY_GAVE_UP:
                continue
            if _usable(value, variable) and contradicts(expression, variable, point, side, value) is False:
                return value
    raise Undecided(f"the limit of {expression} as w tends to {point}")


def _substituted(expression, variable, point):
    """The value at a point where every part of the expression is continuous, hence the limit.

    Each power and logarithm is looked at by itself: in the product of 0 with 0^(p - 2) SymPy sees a 0.
    """
    whole = True
    for node in expression.atoms(sympy.Pow, sympy.log):
        inside = node.args[0].subs(variable, point)
        if isinstance(node, sympy.exp) or not node.has(variable):
            continue
        if isinstance(node, sympy.log):
            continuous = inside.is_positive or _is_positive_for_all(inside)
        else:
            exponent = node.exp.subs(variable, point)
            continuous = inside.is_nonzero or (inside.is_zero and exponent.is_positive) or _is_positive_for_all(inside)
            whole = whole and (exponent.is_Integer or inside.is_positive)
        if not continuous:
            return None
    value = expression.subs(variable, point)
    known = bool(value.is_finite and value.is_real) or (whole and value.is_finite is None)
    return value if known and not value.has(sympy.I, sympy.oo, -sympy.oo, sympy.zoo, sympy.nan) else None


def _is_positive_for_all(value) -> bool:
    """Whether an expression is positive for all positive constants c, e^(k c) being (1 + x)^k with x > 0."""
    x = sympy.Symbol("x", positive=True)
    for constant in sorted(value.free_symbols, key=str):
        powers = in_exponentials(sympy.expand(value), constant, 1 + x)
        value = value if powers is None else powers[0]
    terms = sympy.Add.make_args(sympy.expand(value))
    number = sympy.Add(*(term for term in terms if term.is_number))
    rest = [term for term in terms if not term.is_number]
    return bool(number.is_nonnegative and all(term.is_positive for term in rest) and (rest or number.is_positive))


def _usable(value, variable) -> bool:
    """Whether a limit is infinite, or finite for all values of the constants."""
    return value in _INFINITE or (variable not in value.free_symbols and bool(value.is_finite and value.is_real))


def _holds_symbolic_power(expression, variable) -> bool:
    """Whether the variable is raised to an exponent that holds a constant: orders may then be equal by accident."""
    powers = expression.atoms(sympy.Pow)
    return any(node.base.has(variable) and node.exp.free_symbols - {variable} for node in powers)
