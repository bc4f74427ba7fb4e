"""Rigorous numbers: an interval that contains the value of an expression.

Every number in a verdict (a counter-example, a check of a closed form) is computed here, by interval arithmetic: the
result of each operation contains the exact result for every choice of operands in their intervals, so a sign read off
an interval is a proved sign and cancellation such as `1 - tanh(50)` shows up as width, never as a wrong digit.
"""

import mpmath
import sympy
from mpmath import iv

from stablessm.calculus.outcomes import Undefined, Unresolved
from stablessm.calculus.special import Chi, Phi, Psi

DIGITS = 60
"""Working precision in decimal digits; the width of a point's enclosure is about 10^-DIGITS of its terms."""

_NEAR_ZERO = 1e-15
"""Below it phi, psi and chi of `special.py` are enclosed by 1 and their first power: the closed forms would cancel."""

LARGEST_EXPONENT = 1e15
"""Arguments of `exp` beyond this are not evaluated: the number would need more than 50 bits of exponent."""


def enclose(expression: sympy.Expr, values: dict[sympy.Symbol, object]):
    """An interval that contains `expression` at the given values of its symbols.

    Args:
        expression: elementary functions of the symbols in `values`.
        values: for each symbol an exact SymPy number, or an interval `mpmath.iv.mpf`.

    Returns:
        An `mpmath.iv.mpf`.

    Raises:
        Undefined: the expression has no finite real value anywhere on the intervals.
        Unresolved: it may have one, and the intervals are too wide to tell.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> 1 in enclose(sympy.exp(w), {w: sympy.Integer(0)})
        True
    """
    before, iv.dps = iv.dps, DIGITS
    try:
        return _enclose(expression, values)
    except (ZeroDivisionError, OverflowError, MemoryError) as error:
        raise Unresolved(str(error)) from error
    finally:
        iv.dps = before


def value_at(expression: sympy.Expr, values: dict[sympy.Symbol, object]) -> mpmath.mpf:
    """The value of `expression` at exact numbers, correct to about 30 digits of its largest term.

    Raises:
        Undefined: no finite real value exists there.
        Unresolved: the value could not be enclosed.
    """
    interval = enclose(expression, values)
    with mpmath.workdps(DIGITS):
        return (mpmath.mpf(interval.a) + mpmath.mpf(interval.b)) / 2


def _enclose(node, values):
    if node.is_Symbol:
        value = values[node]
        return _enclose(value, values) if isinstance(value, sympy.Basic) else value
    if node.is_Integer:
        return iv.mpf(int(node))
    if node.is_Rational:
        return iv.mpf(int(node.p)) / iv.mpf(int(node.q))
    if node is sympy.pi:
        return +iv.pi
    if node is sympy.E:
        return iv.exp(iv.mpf(1))
    if node in (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan) or node is sympy.I:
        raise Undefined(str(node))
    if isinstance(node, sympy.Float):
        return _enclose(sympy.Rational(node), values)
    if isinstance(node, sympy.polys.rootoftools.ComplexRootOf):
        middle = node.eval_rational(n=DIGITS)
        slack = sympy.Rational(1, 10 ** (DIGITS - 1)) * (1 + abs(middle))
        return iv.mpf([_enclose(middle - slack, values).a, _enclose(middle + slack, values).b])
    if isinstance(node, sympy.Pow) and not isinstance(node, sympy.exp):
        return _power(node, values)
    arguments = [_enclose(argument, values) for argument in node.args]
    if node.is_Add:
        return sum(arguments[1:], arguments[0])
    if node.is_Mul:
        product = arguments[0]
        for argument in arguments[1:]:
            product = product * argument
        return product
    try:
        rule = _RULES[node.func]
    except KeyError:
        raise Unresolved(f"no interval rule for {node.func.__name__}") from None
    return rule(*arguments)


def _power(node, values):
    base, exponent = _enclose(node.base, values), node.exp
    if exponent.is_Integer:
        if exponent < 0 and 0 in base:
            raise (Undefined if base.a == base.b == 0 else Unresolved)(f"division by zero in {node}")
        return base ** int(exponent) if exponent > 0 else 1 / base ** int(-exponent)
    if base.b < 0:
        raise Undefined(f"{node} is not real")
    if base.a < 0:
        raise Unresolved(str(node))
    power = _enclose(exponent, values)
    if base.a == 0:
        if power.b < 0 and base.b == 0:
            raise Undefined(f"division by zero in {node}")
        if power.a <= 0:
            raise Unresolved(str(node))
        top = iv.mpf(0) if base.b == 0 else _exp(power * iv.log(iv.mpf(base.b)))
        return iv.mpf([0, top.b])
    return iv.sqrt(base) if exponent == sympy.Rational(1, 2) else _exp(power * iv.log(base))


def _exp(x):
    ends = [end for end in (x.a, x.b) if not mpmath.isinf(mpmath.mpf(end))]
    if any(abs(end) > LARGEST_EXPONENT for end in ends):
        raise Unresolved("exponent too large")
    return iv.exp(x)


def _log(x):
    if x.b <= 0:
        raise Undefined("log of a number that is not positive")
    if x.a <= 0:
        raise Unresolved("log")
    return iv.log(x)


def _tanh(x):
    # Increasing, so the ends suffice; 1 - 2/(1 + e^{2x}) uses its argument once, which keeps the enclosure tight.
    return 1 - 2 / (1 + _exp(2 * x))


def _cosh(x):
    if 0 in x:
        size = max(-x.a, x.b)
        return iv.mpf([1, ((_exp(iv.mpf(size)) + _exp(-iv.mpf(size))) / 2).b])
    x = abs(x)
    low, high = iv.mpf(x.a), iv.mpf(x.b)
    return iv.mpf([((_exp(low) + _exp(-low)) / 2).a, ((_exp(high) + _exp(-high)) / 2).b])


def _sinh(x):
    low, high = iv.mpf(x.a), iv.mpf(x.b)
    return iv.mpf([((_exp(low) - _exp(-low)) / 2).a, ((_exp(high) - _exp(-high)) / 2).b])


def _erf(x):
    # mpmath's erf is increasing and good to a few units in the last place: ten guard digits make it an enclosure.
    with mpmath.workdps(DIGITS + 10):
        slack = mpmath.mpf(10) ** (-DIGITS)
        low = mpmath.erf(mpmath.mpf(x.a)) - slack
        high = mpmath.erf(mpmath.mpf(x.b)) + slack
    return iv.mpf([low, high])


def _decreasing(closed_form, power):
    """A function that falls from 1 at 0 to 0, by its values at the ends; it is at least 1 - s^power near 0."""

    def rule(x):
        if x.b < 0:
            raise Unresolved("a decay below 0")
        ends = []
        for end, known in ((x.b, mpmath.inf), (x.a, 0)):
            if mpmath.mpf(end) == known or end <= 0:
                ends.append(iv.mpf(0 if known else 1))
            elif end < _NEAR_ZERO:
                ends.append(iv.mpf([(1 - iv.mpf(end) ** power).a, 1]))
            else:
                ends.append(iv.mpf([0, 1]) if end > LARGEST_EXPONENT else closed_form(iv.mpf(end)))
        return iv.mpf([max(ends[0].a, 0), min(ends[1].b, 1)])

    return rule


def _phi(s):
    return s / (_exp(s) - 1)


def _psi(s):
    return (s / (_exp(s / 2) - _exp(-s / 2))) ** 2


def _chi(s):
    return 4 * s**3 * (_exp(s) + _exp(-s)) / (_exp(s) - _exp(-s)) ** 3


def _extreme(pick):
    return lambda *xs: iv.mpf([pick(x.a for x in xs), pick(x.b for x in xs)])


def _sign(x):
    if x.a > 0 or x.b < 0 or x.a == x.b == 0:
        return iv.mpf(int(x.a > 0) - int(x.b < 0))
    return iv.mpf([-1, 1])


_RULES = {
    sympy.exp: _exp,
    sympy.log: _log,
    sympy.tanh: _tanh,
    sympy.cosh: _cosh,
    sympy.sinh: _sinh,
    sympy.erf: _erf,
    sympy.Abs: abs,
    sympy.Max: _extreme(max),
    sympy.Min: _extreme(min),
    sympy.sign: _sign,
    Phi: _decreasing(_phi, 1),
    Psi: _decreasing(_psi, 2),
    Chi: _decreasing(_chi, 4),
}
