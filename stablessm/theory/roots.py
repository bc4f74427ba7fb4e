"""Roots of the weight removed: on w > 0 an expression in w^(1/2) and w^(1/3) is one in v, w = v^6."""

import math
from dataclasses import dataclass

import sympy


@dataclass(frozen=True)
class Rooted:
    """An expression on one side of 0, written in a root of the distance from 0.

    Attributes:
        form: the expression in `root`, without fractional powers of the weight.
        root: v > 0 with |w| = v^order.
        order: the common denominator of the exponents.
        side: 1 for w > 0, -1 for w < 0.
        lower: lower end of the interval in v.
        upper: its upper end.
    """

    form: sympy.Expr
    root: sympy.Symbol
    order: int
    side: int
    lower: sympy.Expr
    upper: sympy.Expr

    def weight_of(self, point: sympy.Expr) -> sympy.Expr:
        """The weight at a value of the root."""
        return self.side * sympy.expand(point**self.order)


def without_roots(expression: sympy.Expr, w: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr) -> Rooted | None:
    """The expression in a root of the weight, or None where it holds no fractional power of w or -w or changes side.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> without_roots(sympy.sqrt(-w) - w, w, -sympy.oo, sympy.Integer(0)).form
        v**2 + v
    """
    powers = {node for node in expression.atoms(sympy.Pow) if node.base in (w, -w) and node.exp.is_Rational}
    order = math.lcm(*(int(node.exp.q) for node in powers))
    if order == 1:
        return None
    side = 1 if lower.is_extended_nonnegative else -1 if upper.is_extended_nonpositive else 0
    if not side:
        return None
    v = sympy.Symbol("v", positive=True)
    near, far = (lower, upper) if side > 0 else (-upper, -lower)
    ends = [end if end in (0, sympy.oo) else end ** sympy.Rational(1, order) for end in (near, far)]
    return Rooted(sympy.powdenest(expression.subs(w, side * v**order)), v, order, side, *ends)
