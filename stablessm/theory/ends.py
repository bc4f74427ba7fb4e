"""A quantity on its way to an end of its piece: an interval that contains all its values from a given weight on.

Near an end a quantity is written in a variable t > 0 that tends to 0: the distance from a finite end, 1/|w| or
e^{-r |w|} at infinity. There the interval [0, t_0] is put in. Where numerator and denominator are both 0 at t = 0,
Cauchy's mean value theorem gives N/D in the hull of N'/D', if D' keeps one sign.
"""

from collections.abc import Iterator

import mpmath
import sympy
from mpmath import iv

from stablessm.calculus.enclosure import DIGITS, enclose
from stablessm.calculus.exponentials import in_exponentials
from stablessm.calculus.limits import limit_at, normal
from stablessm.calculus.outcomes import Undecided
from stablessm.calculus.special import DECREASING
from stablessm.theory.problem import W
from stablessm.theory.signs import sign_on

_T = sympy.Symbol("t", positive=True)
_DERIVATIVES = 4
"""Times that the mean value theorem is used on one quotient."""
_POWER = 8
"""Power of w that e^{-p(w)} is weighed against."""
_ZERO, _INFINITE = sympy.Integer(0), (sympy.oo, -sympy.oo)


def near_end(quantity: sympy.Expr, end: sympy.Expr, side: str, weight: sympy.Expr) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Bounds of a quantity between a weight and the end of its piece.

    Args:
        quantity: an expression of the weight alone.
        end: an exact number or an infinity.
        side: "+" where the piece lies above a finite end.
        weight: an exact weight of the piece.

    Raises:
        Undecided: no form of it gave finite bounds.
    """
    finite = None
    for form, reach in _forms(quantity, end, side, weight):
        try:
            found = _hull(form, reach, _DERIVATIVES)
        except (Undecided, ArithmeticError):
            continue
        low, high = mpmath.mpf(found.a), mpmath.mpf(found.b)
        if mpmath.isfinite(low) and mpmath.isfinite(high) and (finite is None or high - low < finite[1] - finite[0]):
            finite = low, high
    if finite is None:
        raise Undecided(f"bounds of {quantity} towards w = {end}")
    return finite


def _forms(quantity, end, side, weight) -> Iterator[tuple[sympy.Expr, dict]]:
    """The quantity in t, with the intervals of t and of w."""
    if end not in _INFINITE:
        distance = abs(weight - end)
        moved = quantity.subs(W, end + _T if side == "+" else end - _T)
        for form in dict.fromkeys((moved, _normal(moved))):
            yield form, {_T: _interval(_ZERO, distance)}
        return
    size = abs(weight)
    outwards = quantity if end is sympy.oo else quantity.subs(W, -W)
    whole = {W: iv.mpf([_number(size), mpmath.inf])}
    yield outwards, whole
    yield _normal(outwards.subs(W, 1 / _T)), {_T: _interval(_ZERO, 1 / size)}
    u = sympy.Symbol("u", positive=True)
    powers = in_exponentials(outwards.rewrite((sympy.sinh, sympy.cosh, sympy.tanh), sympy.exp), W, u)
    if powers is not None:
        form, rate = powers
        form = form.subs(u, 1 / _T).replace(sympy.log, lambda inside: _without_growth(inside, rate))
        small = whole | {_T: _interval(_ZERO, sympy.exp(-rate * size))}
        yield sympy.Add(*(_normal(term) for term in sympy.Add.make_args(form))), small
        yield _normal(form), small
    yield from _with_small_exponentials(outwards, size)


def _with_small_exponentials(outwards, size):
    """e^{-p(w)} with a polynomial p of degree 2 or more as y/w^8, y = w^8 e^{-p} in [0, its value at the weight]."""
    form, reach = outwards, {_T: _interval(_ZERO, 1 / size)}
    for place, node in enumerate(sorted(outwards.atoms(sympy.erf), key=str)):
        if node.args[0] == W:
            high = sympy.Symbol(f"h{place}", positive=True)
            form, reach[high] = form.xreplace({node: high}), iv.mpf([enclose(sympy.erf(size), {}).a, 1])
    for place, node in enumerate(sorted(outwards.atoms(sympy.exp), key=str)):
        decay = -node.args[0] if node.args[0].is_polynomial(W) else None
        if decay is None or sympy.degree(decay, W) < 2:
            continue
        beyond = sympy.Poly((W * sympy.diff(decay, W) - _POWER).subs(W, W + size), W).all_coeffs()
        if any(coefficient < 0 for coefficient in beyond):
            continue  # y might still grow
        y = sympy.Symbol(f"y{place}", positive=True)
        form = form.xreplace({node: y / W**_POWER})
        reach[y] = _interval(_ZERO, size**_POWER * sympy.exp(-decay.subs(W, size)))
    if form != outwards:
        yield _normal(form.subs(W, 1 / _T)), reach


def _normal(form):
    inner = form.replace(lambda node: isinstance(node, DECREASING), lambda node: node.func(normal(node.args[0])))
    return normal(inner)


def _without_growth(inside, rate):
    """log of N/t^k as log N + k r w, t = e^{-r w}."""
    top, bottom = sympy.fraction(sympy.together(inside))
    power = sympy.degree(bottom, _T) if bottom.is_polynomial(_T) and bottom.has(_T) else 0
    rest = sympy.cancel(bottom / _T**power)
    return sympy.log(sympy.expand(top)) - sympy.log(rest) + power * rate * W


def _interval(low, high):
    return iv.mpf([_number(low), mpmath.mpf(enclose(high, {}).b)])


def _number(value):
    return mpmath.mpf(enclose(value, {}).a)


def _hull(form, reach, depth):
    before, iv.dps = iv.dps, DIGITS
    try:
        found = _finite(form, reach)
        if found is not None:
            return found
        if isinstance(form, DECREASING):
            return iv.mpf([0, 1])
        if form.has(*DECREASING) and (form.is_Mul or form.is_Add):
            return _in_parts(form, reach, depth)
        top, bottom = sympy.fraction(normal(form))
        inner = {symbol: reach[symbol] for symbol in form.free_symbols}
        if not depth or set(inner) != {_T} or {_at_zero(top), _at_zero(bottom)} != {_ZERO}:
            raise Undecided(f"a hull of {form}")
        slope = sympy.diff(bottom, _T)
        limit = sympy.Rational(str(mpmath.mpf(reach[_T].b) * 2))
        if not sign_on(slope, _T, _ZERO, limit):
            raise Undecided(f"the sign of {slope}")
        return _hull(normal(sympy.diff(top, _T) / slope), reach, depth - 1)
    finally:
        iv.dps = before


def _in_parts(form, reach, depth):
    """A sum by its terms; a product by its decreasing factors and the rest."""
    if form.is_Add:
        return sum((_hull(term, reach, depth) for term in form.args), iv.mpf(0))
    bounded = [factor for factor in form.args if factor.has(*DECREASING)]
    rest = sympy.Mul(*(factor for factor in form.args if factor not in bounded))
    result = _hull(normal(rest), reach, depth)
    for factor in bounded:
        result = result * _hull(factor, reach, depth)
    return result


def _finite(form, reach):
    try:
        found = enclose(form, {symbol: reach[symbol] for symbol in form.free_symbols})
    except ArithmeticError:
        return None
    ends = mpmath.mpf(found.a), mpmath.mpf(found.b)
    return found if all(mpmath.isfinite(end) for end in ends) else None


def _at_zero(part):
    return limit_at(part, _T, _ZERO, "+")
