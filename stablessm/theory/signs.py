"""Does an expression keep one sign on an open interval, for every positive value of its constants?

Three arguments, each a proof:

1. *Factors.* The sign of a product is the product of the signs.
   A quadratic without real roots has the sign of its leading coefficient.
2. *Charts.* An interval is the image of t > 0: w = l + t on (l, oo), w = r - t on (-oo, r), w = (l + r t)/(1 + t) on
   (l, r). There `exp(k t)` is (1 + x)^k with x > 0, on the whole line `exp(k w)` is u^k with u > 0. A sum of products
   of positive numbers is positive, and SymPy's assumptions see that.
3. *Monotonicity.* If g' keeps one sign then g lies strictly between its limits at the two ends; one level of derivative
   is spent per step, as in Budan's theorem.

A number is decided by an interval enclosure, or exactly when it is zero. Nothing is decided by sampling: samples only
stop a search early when the sign visibly changes.
"""

from functools import lru_cache

import sympy

from stablessm.calculus.approach import TRIAL_VALUES, trials
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.exponentials import in_exponentials
from stablessm.calculus.limits import limit_at, normal
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.roots import without_roots

DEPTH = 4
"""How many derivatives the monotonicity argument may take."""

_LARGEST = 50
"""Operations in an expression beyond which its derivative is not looked at: it only grows."""


@lru_cache(maxsize=8192)
def constant_sign(value: sympy.Expr) -> int | None:
    """The sign (1, 0, -1) of an expression of positive constants, or None when it depends on them or is not found.

    Example:
        >>> b = sympy.Symbol("b", positive=True)
        >>> constant_sign(1 / b), constant_sign(b - 1)
        (1, None)
    """
    for form in (lambda: value, lambda: sympy.expand(value), lambda: normal(value)):
        sign = _assumed(form())
        if sign is not None:
            return sign
    if not value.free_symbols:
        return _number_sign(value)
    top, bottom = sympy.fraction(normal(value))
    signs = [_assumed(sympy.expand(part)) for part in (top, bottom)]
    if None not in signs:
        return signs[0] * signs[1]
    constant = min(value.free_symbols, key=str)
    return sign_on(value, constant, sympy.Integer(0), sympy.oo, 1)


def _assumed(value):
    if value.is_positive or value is sympy.oo:
        return 1
    if value.is_negative or value is -sympy.oo:
        return -1
    return 0 if value.is_zero else None


def _number_sign(value):
    try:
        interval = enclose(value, {})
    except ArithmeticError:
        return None
    if interval.a > 0 or interval.b < 0:
        return 1 if interval.a > 0 else -1
    return 0 if sympy.simplify(value) == 0 else None


def sign_on(g: sympy.Expr, w: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr, depth: int = DEPTH) -> int | None:
    """The sign of `g` on the open interval (lower, upper): 1, 0 (identically zero), -1, or None if not proved.

    Args:
        g: a smooth expression of `w` and positive constants, defined on the interval.
        w: the variable.
        lower: the interval's lower end, an exact number or expression of the constants, or minus infinity.
        upper: its upper end.
        depth: how many derivatives may be taken.
    """
    g = normal(g)
    if w not in g.free_symbols:
        return constant_sign(g)
    rooted = without_roots(g, w, lower, upper)
    if rooted is not None:
        return sign_on(rooted.form, rooted.root, rooted.lower, rooted.upper, depth)
    if _changes(g, w, lower, upper):
        return None
    sign = 1
    for factor in sympy.Mul.make_args(g):
        base, power = factor.as_base_exp() if not isinstance(factor, sympy.exp) else (factor, sympy.Integer(1))
        if not power.is_Integer:
            base, power = factor, sympy.Integer(1)
        found = _factor_sign(base, w, lower, upper, depth)
        if not found:
            # The product may be a sum of positive terms although a factor is not: 1 + w^7 for w > 0.
            return found if found == 0 or base is g else _sign_by_charts(g, w, lower, upper)
        sign *= found if power % 2 else 1
    return sign


def _sign_by_charts(h, w, lower, upper):
    return next((sign for form in _charts(h, w, lower, upper) if (sign := _assumed(form)) is not None), None)


def sign_at(g: sympy.Expr, w: sympy.Symbol, point: sympy.Expr) -> int | None:
    """The sign of `g` at a point, factor by factor; a factor with one sign on the whole line is not evaluated."""
    sign = 1
    for factor in sympy.Mul.make_args(normal(g)):
        found = sign_on(factor, w, -sympy.oo, sympy.oo)
        found = constant_sign(factor.subs(w, point)) if found is None else found
        if not found:
            return found
        sign *= found
    return sign


@lru_cache(maxsize=8192)
def _factor_sign(h, w, lower, upper, depth):
    if w not in h.free_symbols:
        return constant_sign(h)
    sign = _sign_by_charts(h, w, lower, upper)
    if sign is not None:
        return sign
    if h.is_polynomial(w) and sympy.degree(h, w) == 2:
        c, b, a = sympy.Poly(h, w).all_coeffs()[::-1]
        if constant_sign(b**2 - 4 * a * c) == -1:
            return constant_sign(a)
    if depth == 0 or h.count_ops() > _LARGEST:
        return None
    slope = sign_on(sympy.diff(h, w), w, lower, upper, depth - 1)
    if not slope:
        return None
    try:
        left, right = limit_at(h, w, lower, "+"), limit_at(h, w, upper, "-")
    except Undecided:
        return None
    smallest, largest = (left, right) if slope > 0 else (right, left)
    if constant_sign(smallest) in (0, 1):
        return 1
    return -1 if constant_sign(largest) in (0, -1) else None


def _charts(h, w, lower, upper):
    """Forms of `h` over the interval in which every symbol is positive (or `w` itself, real)."""
    t, x = sympy.Symbol("t", positive=True), sympy.Symbol("x", positive=True)
    if lower == -sympy.oo and upper == sympy.oo:
        moved, base = h, x
        yield h
    else:
        if upper == sympy.oo:
            point = lower + t
        elif lower == -sympy.oo:
            point = upper - t
        else:
            point = (lower + upper * t) / (1 + t)
        moved, base = h.subs(w, point), 1 + x
        yield moved
        yield _cleared(moved)
    variable = w if moved is h else t
    polynomial = in_exponentials(sympy.expand(moved), variable, base)
    if polynomial is not None:
        yield _cleared(polynomial[0])
        yield polynomial[0]


def _cleared(quotient):
    """An expression of the same sign: numerator, multiplied out, times denominator."""
    top, bottom = sympy.fraction(sympy.together(quotient))
    return sympy.expand(top) * bottom


def inner_points(lower: sympy.Expr, upper: sympy.Expr) -> list[sympy.Expr]:
    """A few exact points inside an interval, in order, as expressions of its ends."""
    if lower == -sympy.oo and upper == sympy.oo:
        return [sympy.Rational(p, 8) for p in (-400, -43, -9, -2, 3, 10, 41, 404)]
    steps = [sympy.Rational(p, 16) for p in (1, 5, 14, 40, 400)]
    if upper == sympy.oo:
        return [lower + step for step in steps]
    if lower == -sympy.oo:
        return [upper - step for step in reversed(steps)]
    return [(lower + upper * step) / (1 + step) for step in steps]


def _changes(g, w, lower, upper) -> bool:
    """True when samples show both signs (or a zero beside a sign), so that a search for a proof is pointless."""
    constants = (g.free_symbols | lower.free_symbols | upper.free_symbols) - {w}
    for values in trials(constants, len(TRIAL_VALUES)):
        seen = set()
        for point in inner_points(lower, upper):
            try:
                interval = enclose(g, values | {w: point.subs(values)})
            except ArithmeticError:
                continue
            if interval.a > 0 or interval.b < 0:
                seen.add(bool(interval.a > 0))
        if len(seen) == 2:
            return True
    return False
