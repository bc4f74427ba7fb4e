"""Where a map lives: its image, and for a user's formula the range of weights over which it has a finite value."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import sympy

from stablessm.parameterizations import grammar
from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.evaluate import view_expression
from stablessm.parameterizations.image import Interval

if TYPE_CHECKING:
    from stablessm.parameterizations.record import Parameterization

_MAGNITUDES = np.unique(
    np.concatenate([[0.0], np.logspace(-37, -6, 63), np.logspace(-6, 6, 12001), np.logspace(6, 38, 65)])
)
GRID = np.concatenate([-_MAGNITUDES[:0:-1], _MAGNITUDES])
_FAR = 1e6


@lru_cache(maxsize=256)
def image(parameterization: Parameterization) -> Interval:
    """Return the set of decays a map reaches: stated for a built-in, found by a scan of the float32 weights else."""
    if parameterization.missing_constants:
        name = parameterization.missing_constants[0]
        raise ParameterizationError(
            f"the image of {parameterization.name!r} depends on the constant {name!r}, which has no value"
        )
    stated = dict(parameterization.images).get(parameterization.link)
    if stated is None:
        return _scanned_image(parameterization)
    lower, upper, brackets = stated
    values = {sympy.Symbol(name, positive=True): sympy.Rational(repr(v)) for name, v in parameterization.values}

    def number(end: str) -> float:
        return float(end) if end in ("inf", "-inf") else float(grammar.parse(end).subs(values))

    return Interval(number(lower), number(upper), brackets[0] == "[", brackets[1] == "]")


@lru_cache(maxsize=256)
def scan(parameterization: Parameterization) -> np.ndarray:
    """Return the decay on `GRID`, in float64 by NumPy, with NaN where it is not a finite real number."""
    expression = view_expression(parameterization, "decay")
    from stablessm.parameterizations.primitives import elementary

    function = sympy.lambdify(sympy.Symbol(grammar.WEIGHT, real=True), elementary(expression), ["scipy", "numpy"])
    with np.errstate(all="ignore"):
        values = np.broadcast_to(np.asarray(function(GRID.astype(complex)), complex), GRID.shape)
    real = np.isfinite(values) & (np.abs(values.imag) <= 1e-12 * np.abs(values.real))
    return np.where(real, values.real, np.nan)


def finite_range(parameterization: Parameterization, *, around: float = 0.0) -> Interval:
    """Return the largest interval of weights around a point over which the decay is finite, real and positive.

    Args:
        parameterization: the map, all constants given.
        around: a weight at which it is.

    Raises:
        ParameterizationError: the decay is not finite and positive at `around`.
    """
    good = scan(parameterization) > 0
    middle = int(np.argmin(np.abs(GRID - around)))
    if not good[middle]:
        raise ParameterizationError(
            f"the decay of {parameterization.name!r} is not a positive finite number at the weight {around:g}"
        )
    bad = np.flatnonzero(~good)
    left, right = bad[bad < middle], bad[bad > middle]
    lower = GRID[left[-1]] if left.size else -np.inf
    upper = GRID[right[0]] if right.size else np.inf
    return Interval(float(lower), float(upper))


def _scanned_image(parameterization: Parameterization) -> Interval:
    values = scan(parameterization)
    finite = values[~np.isnan(values)]
    if not finite.size:
        raise ParameterizationError(f"the formula {parameterization.formula!r} has no finite real value anywhere")
    ends = [(finite.min(), np.nanargmin(values)), (finite.max(), np.nanargmax(values))]
    attained = [bool(abs(GRID[place]) < _FAR) and _is_turning(values, int(place)) for _, place in ends]
    lower, upper = (_limit(float(end), inside) for (end, _), inside in zip(ends, attained, strict=True))
    return Interval(lower, upper, *attained)


def _is_turning(values: np.ndarray, place: int) -> bool:
    """Whether an extreme is attained between finite neighbours, not on the edge of the domain."""
    return 0 < place < values.size - 1 and not np.isnan(values[place - 1 : place + 2]).any()


def _limit(end: float, attained: bool) -> float:
    if attained:
        return end
    if abs(end) < 1e-30:
        return 0.0
    return float(np.sign(end) * np.inf) if abs(end) > 1e30 else end
