"""A quantity at an end of its piece, by way of the limit of the decay there.

Under the discrete links a quantity is one of the continuous link times functions of the decay with limits of their own:
s'/s times phi(s), which is 1 where s -> 0, phi(L) where s -> L, and s e^{-s} up to a factor that tends to 1 where
s -> oo. So the limit is found on the shorter expression, and the quantity grows like it.

Where s -> 0 a sum of several such terms is that of the plain terms up to what the functions differ from 1 by, c k s^n
for the coefficient c of a function 1 - k s^n + ..., if that has a finite limit.
"""

from dataclasses import dataclass

import sympy

from stablessm.calculus.limits import limit_at
from stablessm.calculus.outcomes import Undecided
from stablessm.calculus.special import CLOSED, DECREASING, FAR, NEAR
from stablessm.theory.problem import S, W
from stablessm.theory.signs import constant_sign

_INFINITE = (sympy.oo, -sympy.oo)
_ONE = dict.fromkeys(DECREASING, lambda s: sympy.Integer(1))


@dataclass(frozen=True)
class Tail:
    """What a quantity does at an end.

    Attributes:
        limit: its limit, may be infinite.
        leading: an expression of w alone whose quotient with the quantity tends to 1; None where none was needed.
    """

    limit: sympy.Expr
    leading: sympy.Expr | None


def tail_of(form: sympy.Expr, decay: sympy.Expr, point: sympy.Expr, side: str) -> Tail:
    """The limit of a quantity, with what it grows like.

    Args:
        form: the quantity in w, the decay `S` and the functions of `special.py`.
        decay: s(w), positive on the piece.
        point: the end of the piece.
        side: "+" where the piece lies above a finite end.

    Raises:
        Undecided: a limit was not found, or the terms of a sum tend to infinities of both signs.

    Example:
        >>> from stablessm.calculus.special import Phi
        >>> tail_of(sympy.exp(W) / S * Phi(S), sympy.exp(W), -sympy.oo, "+")
        Tail(limit=1, leading=1)
    """
    level = limit_at(decay, W, point, side)
    if level is not sympy.oo and constant_sign(level) not in (0, 1):
        raise Undecided(f"whether {level} is positive, the limit of the decay")
    terms = [_without_functions(term, decay, level) for term in sympy.Add.make_args(form)]
    if len(terms) > 1 and level == 0:
        return _near_zero(form, sympy.Add(*terms), decay, point, side)
    limits = [limit_at(term, W, point, side) for term in terms]
    infinite = {limit for limit in limits if limit in _INFINITE}
    if len(infinite) == 2:
        raise Undecided(f"the limit of {form}, whose terms are infinite with both signs")
    if infinite:
        growing = [term for term, limit in zip(terms, limits, strict=True) if limit in _INFINITE]
        return Tail(infinite.pop(), sympy.Add(*growing))
    return Tail(_replaced(sympy.Add(*limits), CLOSED), terms[0] if len(terms) == 1 else None)


def _without_functions(term, decay, level):
    """A product with every factor that has a limit other than 0 replaced by it, the others written in w."""
    result = sympy.Integer(1)
    for factor in sympy.Mul.make_args(term):
        base = factor.as_base_exp()[0]
        if S not in factor.free_symbols or base == S:
            result *= factor.subs(S, decay)
            continue
        if level is sympy.oo:
            result *= _replaced(factor, FAR).subs(S, decay)
            continue
        value = (_replaced(factor, _ONE) if level == 0 else factor).subs(S, level)
        known = isinstance(value, DECREASING) or (value.is_finite and constant_sign(value) in (1, -1))
        result *= value if known else _replaced(factor, CLOSED).subs(S, decay)
    return result


def _replaced(factor, table):
    return factor.replace(lambda node: node.func in table, lambda node: table[node.func](node.args[0]))


def _near_zero(form, plain, decay, point, side):
    limit = limit_at(plain, W, point, side)
    for term in sympy.Add.make_args(form):
        functions = [node for node in sympy.Mul.make_args(term) if isinstance(node, DECREASING)]
        if len(functions) != 1:
            raise Undecided(f"how far {term} is from the plain term")
        (function,) = functions
        power, scale = NEAR[function.func]
        missing = limit_at((term / function * scale * function.args[0] ** power).subs(S, decay), W, point, side)
        if missing in _INFINITE:
            raise Undecided(f"how far {term} is from the plain term")
        limit = limit - missing
    return Tail(limit, plain)
