"""All zeros of a smooth expression on an open interval, exactly, or a statement that they were not found.

The list is complete or the function raises: the range of a map, and with it every verdict, rests on that. The
expression is factored; each factor is zero-free by a sign proof, or a polynomial in w, or a polynomial in e^w, or a
monotone outer function of something simpler (log h = 0 where h = 1), or strictly monotone itself with a zero that can
be named.
"""

from functools import lru_cache

import sympy

from stablessm.calculus.exponentials import in_exponentials
from stablessm.calculus.limits import limit_at, normal
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.roots import without_roots
from stablessm.theory.signs import constant_sign, sign_on

_SIMPLE_POINTS = tuple(sympy.Rational(p, q) for p, q in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))
_PEELS = {
    sympy.exp: sympy.log,
    sympy.log: sympy.exp,
    sympy.erf: sympy.erfinv,
}
"""Strictly increasing outer functions and their inverses."""


@lru_cache(maxsize=2048)
def zeros_on(g: sympy.Expr, w: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """The zeros of `g` in (lower, upper), in increasing order; `g` must not vanish identically.

    Raises:
        Undecided: the list could not be shown to be complete, or could not be ordered.
    """
    points: list[sympy.Expr] = []
    top = sympy.fraction(normal(g))[0]
    for factor in sympy.Mul.make_args(top):
        base = factor if isinstance(factor, sympy.exp) else factor.as_base_exp()[0]
        if w not in base.free_symbols:
            if not constant_sign(base):
                raise Undecided(f"whether {base} is 0")
        else:
            points += [p for p in _factor_zeros(base, w, lower, upper) if p not in points]
    return tuple(in_order(points))


def in_order(points: list[sympy.Expr]) -> list[sympy.Expr]:
    """Sort exact points, removing equal ones.

    Raises:
        Undecided: the order depends on the constants.
    """
    ordered: list[sympy.Expr] = []
    for point in points:
        place, same = 0, False
        for place, other in enumerate([*ordered, None]):  # noqa: B007 - the place found is used below
            sign = -1 if other is None else constant_sign(point - other)
            if sign is None:
                raise Undecided(f"whether {point} lies below {other}")
            same = sign == 0
            if sign <= 0:
                break
        if not same:
            ordered.insert(place, point)
    return ordered


def inside(point: sympy.Expr, lower: sympy.Expr, upper: sympy.Expr) -> bool:
    """Whether a point lies strictly between two ends.

    Raises:
        Undecided: that depends on the constants.
    """
    for distance in (point - lower, upper - point):
        sign = constant_sign(distance)
        if sign is None:
            raise Undecided(f"whether {point} lies in ({lower}, {upper})")
        if sign <= 0:
            return False
    return True


def _factor_zeros(h, w, lower, upper):
    if sign_on(h, w, lower, upper):
        return []
    rooted = without_roots(h, w, lower, upper)
    if rooted is not None:
        return in_order(
            [rooted.weight_of(point) for point in zeros_on(rooted.form, rooted.root, rooted.lower, rooted.upper)]
        )
    roots = _roots(h, w)
    if roots is not None:
        return [root for root in roots if inside(root, lower, upper)]
    for point in _SIMPLE_POINTS:
        named = constant_sign(point - lower) == 1 == constant_sign(upper - point) and _vanishes(h, w, point)
        if named and sign_on(h, w, lower, point) and sign_on(h, w, point, upper):
            return [point]
    return _monotone_zero(h, w, lower, upper)


def _roots(h, w):
    """All real roots of `h` on the line, or None if `h` is of no known kind."""
    if h.is_polynomial(w):
        return _polynomial_roots(sympy.Poly(h, w))
    u = sympy.Symbol("u", positive=True)
    polynomial = in_exponentials(sympy.expand(h), w, u)
    if polynomial is not None and w not in polynomial[0].free_symbols:
        form, rate = polynomial
        top = sympy.fraction(sympy.together(form))[0]
        if top.is_polynomial(u):
            return [sympy.log(root) / rate for root in _polynomial_roots(sympy.Poly(top, u)) if _positive(root)]
    return _peeled_roots(h, w)


def _positive(root) -> bool:
    sign = constant_sign(root)
    if sign is None:
        raise Undecided(f"the sign of {root}")
    return sign > 0


def _polynomial_roots(polynomial):
    if polynomial.domain in (sympy.ZZ, sympy.QQ):
        return [sympy.radsimp(root) for root in dict.fromkeys(polynomial.real_roots())]
    if not constant_sign(polynomial.LC()):
        raise Undecided(f"the sign of {polynomial.LC()}")
    if polynomial.degree() == 1:
        slope, offset = polynomial.all_coeffs()
        return [sympy.cancel(-offset / slope)]
    exponents = [monomial[0] for monomial in polynomial.monoms()]
    if polynomial.degree() == 2 or (len(exponents) == 2 and min(exponents) == 0):
        return _binomial_or_quadratic(polynomial, exponents)
    raise Undecided(f"the roots of {polynomial.as_expr()}")


def _binomial_or_quadratic(polynomial, exponents):
    if len(exponents) == 2 and min(exponents) == 0:
        power, level = exponents[0], sympy.cancel(-polynomial.nth(0) / polynomial.LC())
        sign = constant_sign(level)
        if sign is None:
            raise Undecided(f"the sign of {level}")
        root = sympy.powdenest(abs(level) ** sympy.Rational(1, power)) if sign else sympy.Integer(0)
        if power % 2:
            return [sign * root]
        return [-root, root] if sign > 0 else []
    c, b, a = (polynomial.nth(k) for k in range(3))
    discriminant = sympy.factor(b**2 - 4 * a * c)
    sign = constant_sign(discriminant)
    if sign is None:
        raise Undecided(f"the sign of the discriminant {discriminant}")
    return [] if sign < 0 else [(-b + k * sympy.sqrt(discriminant)) / (2 * a) for k in ((-1, 1) if sign else (0,))]


def _peeled_roots(h, w):
    """Roots of k F(inner) + c for an increasing F with a known inverse, or a power."""
    constant, moving = h.as_independent(w, as_Add=True)
    scale, outer = moving.as_independent(w, as_Add=False)
    level = sympy.cancel(-constant / scale)
    if outer.func in _PEELS:
        if isinstance(outer, sympy.exp) and constant_sign(level) in (0, -1):
            return []
        if isinstance(outer, sympy.exp) and constant_sign(level) is None:
            raise Undecided(f"the sign of {level}")
        return _roots_of_level(outer.args[0], _PEELS[outer.func](level), w)
    if outer.is_Pow and outer.exp.is_Rational and w in outer.base.free_symbols:
        found = [_roots_of_level(outer.base, base, w) for base in _bases_of(level, outer.exp)]
        return None if None in found else [root for roots in found for root in roots]
    return None


def _bases_of(level, exponent):
    """All real x with x^exponent = level; x >= 0 under a root."""
    sign = constant_sign(level)
    if sign is None:
        raise Undecided(f"the sign of {level}")
    even = not exponent.is_Integer or exponent % 2 == 0
    if (sign < 0 and even) or (sign == 0 and exponent < 0):
        return []
    if sign == 0:
        return [sympy.Integer(0)]
    size = sympy.radsimp(sympy.powdenest((sign * level) ** (1 / exponent)))
    return [-size, size] if exponent.is_Integer and even else [sign * size]


def _roots_of_level(inner, level, w):
    top = sympy.fraction(normal(inner - level))[0]
    found = []
    for factor in sympy.Mul.make_args(top):
        base = factor if isinstance(factor, sympy.exp) else factor.as_base_exp()[0]
        if w in base.free_symbols and not sign_on(base, w, -sympy.oo, sympy.oo):
            roots = _roots(base, w)
            if roots is None:
                return None
            found += roots
    return found


def _monotone_zero(h, w, lower, upper):
    """The only zero of a strictly monotone `h`, if it has one and a simple number is it."""
    slope = sign_on(sympy.diff(h, w), w, lower, upper)
    if slope:
        left, right = constant_sign(limit_at(h, w, lower, "+")), constant_sign(limit_at(h, w, upper, "-"))
        if None not in (left, right) and left * right >= 0 and (left or right):
            return []
        for point in _SIMPLE_POINTS:
            if constant_sign(point - lower) == 1 == constant_sign(upper - point) and _vanishes(h, w, point):
                return [point]
    raise Undecided(f"the zeros of {h} between {lower} and {upper}")


def _vanishes(h, w, point) -> bool:
    value = h.subs(w, point)
    return value.is_zero or constant_sign(value) == 0
