"""The image of a map: stated for a built-in; for a formula the hull of a scan and of exact limits where it ends."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import sympy

from stablessm.calculus.kinks import one_sided_limit
from stablessm.calculus.outcomes import Undecided
from stablessm.parameterizations import grammar
from stablessm.parameterizations.domain import DIGITS, GRID, WEIGHT, exact_constants, precise, runs, scan, undefined
from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.image import Interval

if TYPE_CHECKING:
    from stablessm.parameterizations.record import Parameterization

_FAR = 1e6
_POLE = 1e4
_GOLDEN = (5**0.5 - 1) / 2
_MOST_EDGES = 8


@lru_cache(maxsize=256)
def image(parameterization: Parameterization) -> Interval:
    """Return the set of decays a map reaches: stated for a built-in, found by a scan and by limits else."""
    if parameterization.missing_constants:
        name = parameterization.missing_constants[0]
        raise ParameterizationError(
            f"the image of {parameterization.name!r} depends on the constant {name!r}, which has no value"
        )
    stated = dict(parameterization.images).get(parameterization.link)
    if stated is None:
        return _scanned_image(parameterization)
    lower, upper, brackets = stated
    values = exact_constants(parameterization)

    def number(end: str) -> float:
        return float(end) if end in ("inf", "-inf") else float(grammar.parse(end).subs(values))

    return Interval(number(lower), number(upper), brackets[0] == "[", brackets[1] == "]")


def _scanned_image(parameterization: Parameterization) -> Interval:
    """The hull of the scan and of the limits at the ends of the domain, which are exact where they are found."""
    values = scan(parameterization)
    if np.isnan(values).all():
        raise ParameterizationError(f"the formula {parameterization.formula!r} has no finite real value anywhere")
    decay = parameterization.expression.subs(exact_constants(parameterization))
    missing = undefined(parameterization)
    ends = [(end, "+") for end, place in ((-sympy.oo, 0), (sympy.oo, -1)) if not missing[place]]
    for first, last in runs(missing)[:_MOST_EDGES]:
        ends += [(sympy.Rational(GRID[first]), "-")] if first > 0 else []
        ends += [(sympy.Rational(GRID[last - 1]), "+")] if last < missing.size else []
    limits = [found for end, side in ends if (found := _limit_at(decay, end, side)) is not None]
    lower, lower_closed = _end(values, decay, limits, -1)
    upper, upper_closed = _end(values, decay, limits, 1)
    return Interval(lower, upper, lower_closed, upper_closed)


def _limit_at(decay: sympy.Expr, end: sympy.Expr, side: str) -> sympy.Expr | None:
    try:
        return one_sided_limit(decay, WEIGHT, end, side)
    except Undecided:
        return None


def _end(values: np.ndarray, decay: sympy.Expr, limits: list[sympy.Expr], side: int) -> tuple[float, bool]:
    """Return the lower (side -1) or the upper (side 1) end of the image, and whether it is attained."""
    extreme = side * np.nanmax(side * values)
    place = np.flatnonzero(values == extreme)
    place = place[np.argmin(np.abs(GRID[place]))]
    known = [side * limit for limit in limits]
    turning = _is_turning(values, int(place))
    if sympy.oo in known or (turning and _is_pole(decay, place, side, float(extreme))):
        return float(side * np.inf), False
    known = [limit for limit in known if limit != -sympy.oo]
    if not known:
        return _limit(float(extreme), attained := bool(turning and abs(GRID[place]) < _FAR)), attained
    with mpmath.workdps(DIGITS):
        reached = side * precise(decay, GRID[place]).real
        limit = max(map(_number, known))
        if abs(reached - limit) <= abs(limit) * mpmath.mpf(10) ** (20 - DIGITS):  # a plateau, not an approach
            return float(side * limit), True
        if reached < limit:
            return float(side * limit), False
    return (float(extreme), True) if turning else (_limit(float(extreme), False), False)


def _is_pole(decay: sympy.Expr, place: int, side: int, extreme: float) -> bool:
    """Whether the decay grows by far more between two neighbours of the grid than a smooth extreme does.

    Golden sections close in on the peak, or on a pole with a change of sign, from the side on which the decay grows.
    """
    function = sympy.lambdify(WEIGHT, decay, ["scipy", "numpy"])
    best = -np.inf
    for low, high in ((GRID[place - 1], GRID[place]), (GRID[place], GRID[place + 1])):
        for _ in range(80):
            inner = np.array([high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)])
            with np.errstate(all="ignore"):
                left, right = side * np.broadcast_to(function(inner), 2)
            low, high = (low, inner[1]) if left >= right else (inner[0], high)
            best = max(best, left, right)
    return bool(best > _POLE * abs(extreme))


def _number(limit: sympy.Expr) -> Any:
    return mpmath.mpf(str(sympy.N(limit, DIGITS)))


def _is_turning(values: np.ndarray, place: int) -> bool:
    """Whether an extreme is attained between finite neighbours, not on the edge of the domain."""
    return 0 < place < values.size - 1 and not np.isnan(values[place - 1 : place + 2]).any()


def _limit(end: float, attained: bool) -> float:
    if attained:
        return end
    if abs(end) < 1e-30:
        return 0.0
    return float(np.sign(end) * np.inf) if abs(end) > 1e30 else end
