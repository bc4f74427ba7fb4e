"""The inverse of a decay on a piece where it is monotone, by peeling one function after another off the weight."""

import sympy

from stablessm.calculus.exponentials import in_exponentials
from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.problem import S, W

_INVERSES = {
    sympy.exp: sympy.log,
    sympy.log: sympy.exp,
    sympy.tanh: sympy.atanh,
    sympy.sinh: sympy.asinh,
    sympy.cosh: sympy.acosh,
    sympy.erf: sympy.erfinv,
}


def inverse_of(decay: sympy.Expr) -> sympy.Expr:
    """w(s) with s(w(s)) = s, the non-negative branch where an even function is peeled.

    A decay that holds w once is peeled from the outside in. One that holds it several times is brought to a polynomial
    equation in w or in e^w that has one term in it, or is of degree two.

    Args:
        decay: s(w), smooth.

    Returns:
        An expression of the positive symbol `s`.

    Raises:
        Undecided: the decay is of neither kind.

    Example:
        >>> inverse_of(sympy.log(1 + sympy.exp(W)))
        log(exp(s) - 1)
    """
    if decay.count(W) == 1:
        return _peeled(decay, S)
    rational = normal(decay)
    u = sympy.Symbol("u", positive=True)
    equation = sympy.fraction(sympy.together(rational - S))[0]
    root = _largest_root(equation, W)
    if root is not None:
        return root
    polynomial = in_exponentials(sympy.expand(equation), W, u)
    if polynomial is not None and W not in polynomial[0].free_symbols:
        root = _largest_root(sympy.fraction(sympy.together(polynomial[0]))[0], u)
        if root is not None:
            return sympy.log(root) / polynomial[1]
    raise Undecided(f"the inverse of {decay}")


def _peeled(expression, level):
    while expression != W:
        inside = next(arg for arg in expression.args if W in arg.free_symbols)
        if expression.is_Add:
            level = level - expression + inside
        elif expression.is_Mul:
            level = sympy.cancel(level * inside / expression)
        elif expression.func in _INVERSES:
            level = _INVERSES[expression.func](level)
        elif expression.is_Pow and inside == expression.base:
            level = level ** (1 / expression.exp)
        else:
            raise Undecided(f"the inverse of {expression}")
        expression = inside
    return level


def _largest_root(equation, unknown):
    if not equation.is_polynomial(unknown):
        return None
    polynomial = sympy.Poly(equation, unknown)
    exponents = sorted({monomial[0] for monomial in polynomial.monoms()} - {0})
    if len(exponents) == 1:
        level = -polynomial.nth(0) / polynomial.nth(exponents[0])
        return sympy.cancel(level) ** sympy.Rational(1, exponents[0])
    if polynomial.degree() == 2:
        c, b, a = (polynomial.nth(k) for k in range(3))
        return (-b + sympy.sqrt(sympy.factor(b**2 - 4 * a * c))) / (2 * a)
    return None
