"""Limits by orders of growth: rules that hold for every value of the constants, or give no answer.

A symbolic engine asked for the limit of w^(p - 2) decides as if p - 2 were not 0, or had a sign. Here two orders are
compared only where their difference has a sign that SymPy's assumptions prove:

1. a quotient of sums of c t^e goes like the quotient of its leading terms;
2. sums, products, powers, exponentials and logarithms have the limit of their parts, unless that is of the form
   oo - oo, 0 oo, or 0^e with e of unknown sign.
"""

import sympy

_INFINITE = (sympy.oo, -sympy.oo)
_MOST_TERMS = 40


def limit_by_orders(expression: sympy.Expr, variable: sympy.Symbol, point: sympy.Expr, side: str) -> sympy.Expr | None:
    """The one-sided limit of a smooth expression for all positive constants, or None where the rules do not give it.

    Example:
        >>> w, p = sympy.Symbol("w", real=True), sympy.Symbol("p", positive=True)
        >>> limit_by_orders(w**p / (1 + w**p), w, sympy.oo, "-"), limit_by_orders(w ** (p - 2), w, sympy.S.Zero, "+")
        (1, None)
    """
    t = sympy.Dummy("t", positive=True)
    if point in _INFINITE:
        return _limit(expression.subs(variable, t if point is sympy.oo else -t), t, sympy.oo)
    return _limit(expression.subs(variable, point + t if side == "+" else point - t), t, sympy.Integer(0))


def _limit(expression, t, end):
    if t not in expression.free_symbols:
        return expression if expression.is_finite else None
    if expression == t:
        return end
    known = _by_leading_terms(expression, t, end)
    if known is not None:
        return known
    if isinstance(expression, sympy.exp):
        return _exponential(_limit(expression.args[0], t, end))
    if isinstance(expression, sympy.log):
        return _logarithm(_limit(expression.args[0], t, end), expression.args[0])
    if expression.is_Pow and t not in expression.exp.free_symbols:
        return _power(_limit(expression.base, t, end), expression.base, expression.exp)
    if expression.is_Add or expression.is_Mul:
        parts = [_limit(part, t, end) for part in expression.args]
        return None if None in parts else _sum(parts) if expression.is_Add else _product(parts)
    return None


def _by_leading_terms(expression, t, end):
    """Rule 1; None where the expression is no quotient of sums of powers, or two orders cannot be compared."""
    if expression.atoms(sympy.Function, sympy.exp) or any(node.exp.has(t) for node in expression.atoms(sympy.Pow)):
        return None
    if any(node.base.is_Add and node.base.has(t) and not node.exp.is_Integer for node in expression.atoms(sympy.Pow)):
        return None  # a root of a sum is no sum of powers
    leading = [_leading_term(part, t, end) for part in sympy.fraction(sympy.together(expression))]
    if None in leading:
        return None
    (above, high), (below, low) = leading
    order = sympy.expand(high - low)
    ratio = sympy.cancel(above / below)
    return ratio if order == 0 else _scaled(_monomial(order, end), ratio)


def _leading_term(total, t, end):
    """(coefficient, exponent) of the term that dominates a sum as t -> end, both free of t."""
    terms: dict[sympy.Expr, sympy.Expr] = {}
    summands = sympy.Add.make_args(sympy.powdenest(sympy.expand(total)))
    if len(summands) > _MOST_TERMS:
        return None
    for term in summands:
        coefficient, order = sympy.Integer(1), sympy.Integer(0)
        for factor in sympy.Mul.make_args(term):
            base, power = factor.as_base_exp()
            if t not in factor.free_symbols:
                coefficient *= factor
            elif base == t and t not in power.free_symbols:
                order += power
            else:
                return None
        order = sympy.expand(order)
        terms[order] = terms.get(order, 0) + coefficient
    terms = {order: coefficient for order, coefficient in terms.items() if sympy.expand(coefficient) != 0}
    for order, coefficient in terms.items():
        others = [sympy.expand(order - other) for other in terms if other != order]
        if all((gap.is_positive if end is sympy.oo else gap.is_negative) for gap in others):
            return (coefficient, order) if coefficient.is_positive or coefficient.is_negative else None
    return None


def _monomial(order, end):
    """The limit of t^order."""
    if order.is_positive:
        return end
    return (sympy.oo if end == 0 else sympy.Integer(0)) if order.is_negative else None


def _scaled(limit, factor):
    return None if limit is None else limit if factor.is_positive or limit == 0 else -limit


def _exponential(limit):
    if limit is None:
        return None
    return {sympy.oo: sympy.oo, -sympy.oo: sympy.Integer(0)}.get(limit, sympy.exp(limit))


def _logarithm(limit, inside):
    if limit == 0 and inside.is_positive:
        return -sympy.oo
    if limit is sympy.oo:
        return sympy.oo
    return sympy.log(limit) if limit is not None and limit not in _INFINITE and limit.is_positive else None


def _power(limit, base, exponent):
    if limit is None:
        return None
    if limit.is_finite and limit.is_nonzero and exponent.is_Integer:
        return limit**exponent
    if limit != 0 and not limit.is_extended_positive:
        return None
    if limit == 0 and not base.is_positive:
        return sympy.Integer(0) if exponent.is_Integer and exponent > 0 else None
    if limit in (0, sympy.oo):
        return _monomial(exponent, limit)
    return limit**exponent


def _sum(parts):
    infinite = {part for part in parts if part in _INFINITE}
    return None if len(infinite) == 2 else infinite.pop() if infinite else sympy.Add(*parts)


def _product(parts):
    if not any(part in _INFINITE for part in parts):
        return sympy.Mul(*parts)
    signs = [1 if part.is_extended_positive else -1 if part.is_extended_negative else 0 for part in parts]
    return sympy.prod(signs) * sympy.oo if 0 not in signs else None
