"""Families of decay, as curves of log|rho| against time, each fitted by variable projection.

| curve      | log|rho(t)|                          | where it comes from                                       |
|------------|--------------------------------------|-----------------------------------------------------------|
| simple     | A - beta t                           | one rate                                                  |
| repeated   | A + k log(t + tau) - beta t          | k + 1 equal rates in a chain: t^k e^(-beta t), Theorem 3.1 |
| two_rates  | A - beta t + log(1 + r e^(-gamma t)) | a fast rate beside the slow: (e^(-pt) - e^(-qt))/(q - p)   |
| polynomial | A - p log(1 + c t)                   | (1 + c t)^-p                                              |

The first three are exponential: beta is their rate as t grows. In all of them A and the rate enter linearly and are
projected out, so that only the shape (tau; gamma and r; c) is searched, by SciPy.

References: Wang and Li, StableSSM (ICML 2024), Theorem 3.1; Golub and Pereyra, variable projection (1973).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares, minimize_scalar

SIMPLE, REPEATED, TWO_RATES, POLYNOMIAL = "simple", "repeated", "two_rates", "polynomial"
MOST_REPEATED = 3
MOST_PARAMETERS = 4
_GRID = 24
_VISIBLE = 0.5  # share of the fast rate at the end of the window up to which the slow one counts as seen


class Curve(NamedTuple):
    """A fitted curve.

    Attributes:
        name: of the family.
        rate: beta of an exponential family (1/time), p of the polynomial one.
        level: A.
        shape: (k, tau), (gamma, r), (c,) or ().
        square: mean squared residual of log|rho|.
        parameters: how many numbers were fitted.
    """

    name: str
    rate: float
    level: float
    shape: tuple[float, ...]
    square: float
    parameters: int

    def log(self, time: np.ndarray) -> np.ndarray:
        """Return the curve, log|rho|, at times; NaN where it is not defined."""
        with np.errstate(all="ignore"):
            if self.name == POLYNOMIAL:
                return self.level - self.rate * np.log1p(self.shape[0] * time)
            straight = self.level - self.rate * time
            if self.name == REPEATED:
                return straight + self.shape[0] * np.log(time + self.shape[1])
            if self.name == TWO_RATES:
                return straight + np.log1p(self.shape[1] * np.exp(-self.shape[0] * time))
            return straight


def simple(time: np.ndarray, log: np.ndarray) -> Curve:
    """Fit A - beta t."""
    return _projected(SIMPLE, time, log, np.zeros_like(log), (), 2)


def is_concave(time: np.ndarray, log: np.ndarray) -> bool:
    """Return whether log|rho| bends downward on the whole, as behind a chain of rates; a sum of rates bends upward."""
    return bool(np.polynomial.Polynomial.fit(time, log, 2).coef[2] < 0)


def repeated(time: np.ndarray, log: np.ndarray) -> Curve:
    """Fit A + k log(t + tau) - beta t with k = 1, 2, 3 and 0 <= tau <= the last time."""
    least = 0.0 if time[0] > 0 else 1e-2 * (time[1] - time[0])
    span = np.append(least, time[-1] * np.geomspace(1e-3, 1, _GRID))
    span = span[span >= least]
    found = []
    for order in range(1, MOST_REPEATED + 1):
        tau = _search(lambda tau, k=order: (time, log - k * np.log(time + tau)), span)
        found.append(_projected(REPEATED, time, log, order * np.log(time + tau), (float(order), tau), MOST_PARAMETERS))
    return min(found, key=lambda curve: curve.square)


def polynomial(time: np.ndarray, log: np.ndarray) -> Curve:
    """Fit A - p log(1 + c t); 1/c is at most the last time, for beyond it the curve is an exponential."""
    span = np.log(np.geomspace(1, 1e3 * time[-1] / np.diff(time).min(), 2 * _GRID) / time[-1])
    c = float(np.exp(_search(lambda logarithm: (np.log1p(np.exp(logarithm) * time), log), span)))
    return _projected(POLYNOMIAL, np.log1p(c * time), log, np.zeros_like(log), (c,), 3)


def two_rates(time: np.ndarray, log: np.ndarray) -> Curve | None:
    """Fit A - beta t + log(1 + r e^(-gamma t)), gamma > 0; None where no slow decay is seen before the end.

    In u, which runs from 0 to 1 over the times, the bend is log(1 + (e^v - 1) e^(-e^x u)), real for all x and v.
    """
    length = time[-1] - time[0]
    u = (time - time[0]) / length
    basis = np.linalg.qr(np.stack([np.ones_like(u), u], -1))[0]

    def outside(bends: np.ndarray) -> np.ndarray:
        return bends - (bends @ basis) @ basis.T

    def bend(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.log1p(np.expm1(v)[..., None] * np.exp(-np.exp(x)[..., None] * u))

    def slopes(at: np.ndarray) -> np.ndarray:
        fast = np.exp(-np.exp(at[0]) * u)
        whole = 1 + np.expm1(at[1]) * fast
        return -outside(np.stack([-np.expm1(at[1]) * fast * np.exp(at[0]) * u, np.exp(at[1]) * fast]) / whole).T

    goal = outside(log)
    x, v = (part.ravel() for part in np.meshgrid(np.log(np.geomspace(0.01, 100, _GRID)), np.linspace(-8, 8, _GRID)))
    seen = np.expm1(v) * np.exp(-np.exp(x)) < _VISIBLE
    squares = ((goal - outside(bend(x, v))) ** 2).sum(-1)
    place = int(np.argmin(np.where(seen, squares, np.inf)))
    with np.errstate(all="ignore"):
        found = least_squares(
            lambda at: np.nan_to_num(goal - outside(bend(at[0], at[1])), nan=1e6, posinf=1e6, neginf=-1e6),
            [x[place], v[place]], lambda at: np.nan_to_num(slopes(at)), method="lm", xtol=1e-14, ftol=1e-14,
            gtol=1e-14, max_nfev=60,
        )  # fmt: skip
        speed, start = np.exp(found.x[0]), np.expm1(found.x[1])
        share = start * np.exp(-speed)
        gamma, ratio = float(speed / length), float(start * np.exp(speed * time[0] / length))
        if not (share < _VISIBLE and np.isfinite(gamma) and np.isfinite(ratio)):
            return None
        bent = bend(found.x[0], found.x[1])
    curve = _projected(TWO_RATES, time, log, bent, (gamma, ratio), MOST_PARAMETERS)
    return curve if curve.rate > 0 else None


def _projected(
    name: str, along: np.ndarray, log: np.ndarray, bent: np.ndarray, shape: tuple[float, ...], parameters: int
) -> Curve:
    """Return the curve A - rate x + bent, x being `along`, with the least squared residual."""
    y = log - bent
    spread = along - along.mean()
    rate = -float(spread @ y / (spread @ spread))
    level = float(y.mean() + rate * along.mean())
    return Curve(name, rate, level, shape, float(np.mean((y - level + rate * along) ** 2)), parameters)


def _search(line: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], grid: np.ndarray) -> float:
    """Return the value of a shape parameter at which y is best a straight line of x: best of a grid, then refined.

    Args:
        line: parameter, of shape (1,) or (points, 1) -> (x, y), broadcast against the times.
        grid: increasing.
    """

    def squares(values: np.ndarray) -> np.ndarray:
        x, y = np.broadcast_arrays(*line(values[:, None]))
        x, y = x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)
        return ((y - ((x * y).sum(-1) / (x * x).sum(-1))[:, None] * x) ** 2).sum(-1)

    place = int(np.argmin(squares(grid)))
    bounds = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    found = minimize_scalar(
        lambda value: squares(np.array([value]))[0], bounds=bounds, method="bounded", options={"xatol": 1e-12}
    )
    return float(found.x if found.fun < squares(grid[place : place + 1])[0] else grid[place])
