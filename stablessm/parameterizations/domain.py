"""Where a formula has a value: a scan of the float32 weights, and the range over which it is finite and positive."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mpmath
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
DIGITS = 400  # enough for 1 - tanh(355)
WEIGHT = sympy.Symbol(grammar.WEIGHT, real=True)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    from scipy.special import expit  # slow to import, and built-in maps do not need it

    return expit(x)


_STABLE = {
    "softplus": lambda x: np.logaddexp(0.0, x),
    "sigmoid": _sigmoid,
    "expm1": np.expm1,
    "bose": lambda x: 1 / np.expm1(x),
    "log_expm1": lambda x: x + np.log(-np.expm1(-x)),
    "log_abs_expm1": lambda x: np.maximum(x, 0.0) + np.log(-np.expm1(-np.abs(x))),
}


@lru_cache(maxsize=256)
def scan(parameterization: Parameterization) -> np.ndarray:
    """Return the decay on `GRID`, in float64 by NumPy, with NaN where it is not a finite real number."""
    values = _on_grid(view_expression(parameterization, "decay"))
    return np.where(np.isfinite(values) & ~undefined(parameterization), values, np.nan)


@lru_cache(maxsize=256)
def undefined(parameterization: Parameterization) -> np.ndarray:
    """Return where on `GRID` the formula as it is written has no real value: w/w at 0, sqrt(w)^4 for w < 0.

    What a part is to be is collected in `Parameterization.restrictions`. A part that only rounds to a forbidden number
    (e^w to 0) is seen by its value in high precision at the weight of each such run that is nearest to 0.
    """
    values = exact_constants(parameterization)
    found = np.zeros(GRID.shape, bool)
    for base, exponent in parameterization.restrictions:
        part, power = base.subs(values), None if exponent is None else exponent.subs(values)
        broken = _breaks(_on_grid(part), np.nan if power is None else _on_grid(power))
        for first, last in runs(broken):
            nearest = GRID[first + int(np.argmin(np.abs(GRID[first:last])))]
            exact = [np.nan if one is None else precise(one, nearest) for one in (part, power)]
            found[first:last] |= all(one.imag == 0 for one in exact) and bool(_breaks(*map(_sized, exact)))
    return found


def precise(expression: sympy.Expr, weight: float) -> Any:
    """Return an expression of the weight at one weight, in 400 digits: no over- or underflow; NaN at a pole."""
    with mpmath.workdps(DIGITS):
        try:
            return mpmath.mpc(sympy.lambdify(WEIGHT, expression, "mpmath")(mpmath.mpf(weight)))
        except (ZeroDivisionError, ValueError, OverflowError):  # a pole
            return mpmath.mpc("nan")


def exact_constants(parameterization: Parameterization) -> dict[sympy.Symbol, sympy.Rational]:
    """Return the constants of a map as exact numbers, by their symbols."""
    return {sympy.Symbol(name, positive=True): sympy.Rational(repr(value)) for name, value in parameterization.values}


def runs(where: np.ndarray) -> list[tuple[int, int]]:
    """Return (first, last + 1) of each unbroken run of a mask on the grid."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], where.astype(np.int8), [0]])))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _on_grid(expression: sympy.Expr) -> np.ndarray:
    """Return an expression of the weight on `GRID` in float64, its primitives without overflow; NaN where not real."""
    function = sympy.lambdify(WEIGHT, expression, [_STABLE, "scipy", "numpy"])
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(function(GRID), float), GRID.shape)


def _breaks(base: Any, exponent: Any) -> Any:
    """Whether x^exponent (log x, where the exponent is NaN) has no finite real value."""
    logarithm, whole = np.isnan(exponent), exponent == np.round(exponent)
    return np.where(logarithm, base <= 0, ((base < 0) & ~whole) | ((base == 0) & (exponent < 0)))


def _sized(value: Any) -> float:
    """Return a number of high precision as a float of the same sign: what is not 0 stays so."""
    number = float(np.real(complex(value)))
    return number if number or not value else float(np.sign(int(mpmath.sign(value.real)))) * 5e-324


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
