"""The least g of Definition 3.2 in closed form: by how much the margin changes at most over a distance beta.

g = R - 1, R = sup over |w~ - w| <= beta of m(w)/m(w~), m the margin. Two ways lead to it:

1. ln m has a slope of constant size, or one that is largest at infinity, where it tends to K: then R = e^{K beta}.
2. R is the largest value of the quotient m(c - beta/2)/m(c + beta/2), or of its inverse, found like the range of any
   map; where it grows with beta, smaller distances give no more.

A quotient that is symmetric about its maximiser has R + 1/R - 2 = y^2 with a short y, and then R = e^{2 asinh(y/2)}.
"""

from dataclasses import dataclass

import sympy

from stablessm.calculus.limits import normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounds import Bound
from stablessm.theory.domain import cells_of
from stablessm.theory.pieces import pieces_of
from stablessm.theory.problem import Problem, W
from stablessm.theory.ranges import Extreme, extremes_of
from stablessm.theory.signs import constant_sign, sign_at, sign_on

BETA = sympy.Symbol("beta", positive=True)
"""The size of a perturbation of the weight."""

_INFINITE = (sympy.oo, -sympy.oo)
_LONGEST = 60
"""Operations beyond which R + 1/R - 2 is not looked at for a short form."""


@dataclass(frozen=True)
class Least:
    """The least g.

    Attributes:
        ratio: R = 1 + g, an expression of beta and the constants.
        weight: where it is attained, or the end that w tends to where it is approached only; None for every weight.
        other: the perturbed weight w~ (written with w where w tends to an end, or is any weight).
    """

    ratio: sympy.Expr
    weight: sympy.Expr | None
    other: sympy.Expr

    def growth(self) -> sympy.Expr:
        """g(beta), in the shortest form known."""
        plain = tidy(self.ratio - 1)
        powers = [node.exp for node in plain.atoms(sympy.Pow) if node.has(BETA)]
        rooted = any(power.is_Rational and not power.is_Integer for power in powers)
        if not rooted or plain.count_ops() > _LONGEST:
            return plain
        square = sympy.simplify(self.ratio + 1 / self.ratio - 2)
        root = sympy.sqrt(square)
        if root.is_positive and root.count_ops() < plain.count_ops() / 2:
            return sympy.exp(2 * sympy.asinh(root / 2)) - 1
        return plain

    def where(self, problem: Problem) -> str:
        """The pair of weights, in words."""
        if self.weight is None:
            return f"at every w, with w~ = {problem.text(self.other)}"
        if self.weight in _INFINITE:
            return f"approached as w -> {problem.text(self.weight)}, w~ = {problem.text(self.other)}"
        return f"attained at w = {problem.text(self.weight)}, w~ = {problem.text(self.other)}"


def by_slope(slope: Bound) -> Least | None:
    """The first way; None where the slope of ln m is largest elsewhere, or its supremum was not found.

    Args:
        slope: what is known of the size of m'/m.
    """
    if len(slope.values) != 1:
        return None
    size, point, _ = slope.values[0]
    if slope.constant is not None:
        return Least(sympy.exp(size * BETA), None, W - BETA)
    if point not in _INFINITE:
        return None
    signed = next(limit for _, end, _, limit in slope.limits if end == point and constant_sign(abs(limit) - size) == 0)
    step = -BETA if constant_sign(signed) == 1 else BETA
    return Least(sympy.exp(size * BETA), point, W + step)


def largest_ratio(case: Problem) -> Least:
    """The second way.

    Raises:
        Undecided: the supremum was not found, or does not increase with beta.
    """
    if case.link == "one-minus" and {cell.branch for cell in cells_of(case)} != {"s"}:
        raise Undecided("the modulus across lambda = 0")
    margin = 1 - sympy.exp(-case.decay) if case.link == "exponential" else case.decay
    if margin.has(sympy.log, sympy.erf) or not all(_is_linear(node.args[0]) for node in margin.atoms(sympy.exp)):
        raise Undecided("the supremum of a quotient that holds more than powers and exponentials of w")
    ratio = normal(margin.subs(W, W - BETA / 2) / margin.subs(W, W + BETA / 2))
    largest, place, sign = None, None, 0
    for extreme in extremes_of(ratio, pieces_of(ratio, W), W):
        if extreme.weight in _INFINITE:
            above = constant_sign(extreme.value - 1)
        else:
            above = sign_at(ratio - 1, W, extreme.weight)
        if above is None:
            raise Undecided(f"whether {extreme.value} exceeds 1")
        if above == 0:
            continue
        value = extreme.value if above > 0 else 1 / extreme.value
        if largest is None or _compared(value, largest) > 0:
            largest, place, sign = value, extreme, above
    if largest is None:
        raise Undecided("a weight at which the ratio is not 1")
    if not (_increasing(largest) or _increasing_at(ratio, place)):
        raise Undecided(f"whether {largest} increases with beta")
    return _at(largest, place, sign)


def _is_linear(exponent) -> bool:
    """Whether an exponent is linear in w, but for kinks."""
    kinks = (sympy.Abs, sympy.Max, sympy.Min)
    branch = exponent.replace(lambda node: isinstance(node, kinks), lambda node: sympy.Add(*node.args))
    return sympy.diff(branch, W, 2) == 0


def _at(largest: sympy.Expr, place: Extreme, sign: int) -> Least:
    if place.weight in _INFINITE:
        return Least(largest, place.weight, W + sign * BETA)
    half = sign * BETA / 2
    return Least(largest, tidy(place.weight - half), tidy(place.weight + half))


def _compared(first, second) -> int:
    sign = constant_sign(first - second)
    if sign is None and sympy.simplify(first - second) == 0:
        sign = 0
    if sign is None:
        raise Undecided(f"which of {first} and {second} is larger")
    return sign


def _increasing(ratio) -> bool:
    return sign_on(sympy.diff(ratio, BETA), BETA, sympy.Integer(0), sympy.oo) == 1


def _increasing_at(ratio, place) -> bool:
    """At an interior maximum in w the derivative of the maximum in beta is the partial one, w held fixed."""
    if place.side or place.span or place.weight in _INFINITE:
        return False
    grows, above = sign_at(sympy.diff(ratio, BETA), W, place.weight), sign_at(ratio - 1, W, place.weight)
    return grows is not None and above is not None and grows * above > 0
