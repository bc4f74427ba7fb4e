"""From an expression back to a formula of the grammar that `verify`, `run` and every declaration read."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from stablessm.design.errors import Unsolved
from stablessm.parameterizations import Parameterization, ParameterizationError
from stablessm.parameterizations.primitives import sigmoid, softplus
from stablessm.parameterizations.printing import FormulaPrinter

_DIGITS = 30
_LONG = 10**6
_LETTERS = ("b", "c", "d", "k", "m", "n")
_FUNCTIONS = (sympy.exp, sympy.log, sympy.sinh, sympy.cosh, sympy.tanh, sympy.erf, sympy.Abs, sympy.Max, sympy.Min,
              softplus, sigmoid)  # fmt: skip
_WRITTEN_OUT = {
    sympy.asinh: lambda x: sympy.log(x + sympy.sqrt(x**2 + 1)),
    sympy.acosh: lambda x: sympy.log(x + sympy.sqrt(x**2 - 1)),
    sympy.atanh: lambda x: sympy.log((1 + x) / (1 - x)) / 2,
    sympy.coth: lambda x: 1 / sympy.tanh(x),
    sympy.sech: lambda x: 1 / sympy.cosh(x),
    sympy.csch: lambda x: 1 / sympy.sinh(x),
    sympy.erfc: lambda x: 1 - sympy.erf(x),
}


class _Printer(FormulaPrinter):
    """Text in the formula language, long fractions as decimals."""

    def _print_Rational(self, expr: sympy.Rational) -> str:
        return (
            repr(float(expr)) if expr.q > _LONG and sympy.Rational(repr(float(expr))) == expr else f"{expr.p}/{expr.q}"
        )


def formula_of(expression: sympy.Expr) -> str:
    """Return the text of a decay in the grammar of `parameterizations/grammar.py`.

    Args:
        expression: an expression of `w` and positive constants.

    Returns:
        The text; asinh and its like are written out in logarithms, log(1 + exp(w)) as softplus, and pi or e, for which
        it has no name, as the decimal number of a float64.

    Raises:
        Unsolved: it holds what the grammar has no word for, such as atan, or is too long for it.

    Example:
        >>> formula_of(1 / sympy.log(1 + sympy.exp(sympy.Symbol("w", real=True))))
        '1/softplus(w)'
    """
    written = _in_primitives(_in_the_grammar(expression))
    for node in sympy.preorder_traversal(written):
        known = node.is_Symbol or node.is_Rational or node.is_Add or node.is_Mul or node.is_Pow
        if not known and not isinstance(node, _FUNCTIONS):
            name = node.func.__name__ if node.args else str(node)
            raise Unsolved(f"the solution holds {name}, for which formulas have no word: {expression}")
    text = _Printer().doprint(written)
    try:
        Parameterization.from_formula(text)
    except ParameterizationError as error:
        raise Unsolved(f"the solution cannot be written as a formula: {error}") from None
    return text


def text_of(expression: sympy.Expr) -> str:
    """Return an expression as text for the eye: the functions' names are those of the grammar where it has them."""
    return _Printer().doprint(_in_primitives(expression))


def free_name(taken: Iterable[str]) -> str:
    """Return a name for a further constant: b, or the next letter that is not taken."""
    used = set(taken)
    return next(name for name in (*_LETTERS, *(f"b{k}" for k in range(1, 100))) if name not in used)


def _in_the_grammar(expression: sympy.Expr) -> sympy.Expr:
    for kind, rewrite in _WRITTEN_OUT.items():
        expression = expression.replace(kind, rewrite)
    return _with_decimals(expression)


def _with_decimals(node: sympy.Expr) -> sympy.Expr:
    """Write every number that holds pi or e, such as sqrt(pi)/2, as one decimal number."""
    if node.is_number and node.has(sympy.NumberSymbol):
        return sympy.Rational(repr(float(node.evalf(_DIGITS))))
    if not node.args:
        return node
    if node.is_Mul:
        number, rest = node.as_independent(*node.free_symbols)
        if number.has(sympy.NumberSymbol):
            return _with_decimals(number) * _with_decimals(rest)
    return node.func(*map(_with_decimals, node.args))


def _in_primitives(expression: sympy.Expr) -> sympy.Expr:
    """Fold log(1 + e^x) into softplus(x) and 1/(1 + e^x) into sigmoid(-x)."""

    def inner(node: sympy.Expr) -> sympy.Expr | None:
        if node.is_Add and len(node.args) == 2 and sympy.S.One in node.args:
            (rest,) = (part for part in node.args if part is not sympy.S.One)
            return rest.args[0] if isinstance(rest, sympy.exp) else None
        return None

    def fold(node: sympy.Expr) -> sympy.Expr:
        if isinstance(node, sympy.log) and (x := inner(node.args[0])) is not None:
            return softplus(x)
        if node.is_Pow and node.exp == -1 and (x := inner(node.base)) is not None:
            return sigmoid(-x)
        return node

    return expression.replace(lambda node: isinstance(node, sympy.log) or node.is_Pow, fold)
