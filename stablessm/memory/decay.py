r"""How fast a memory function decays, and whether exponentially or polynomially.

The envelope of log|rho| (`tail`) is fitted by four curves (`curves`) over three windows: the whole tail, and what is
left of it once a quarter and a half of its fall in log|rho| are over. Falls, not times, are cut, since half of the time
is most of an exponential but next to nothing of a polynomial. In each window

    BIC = n log(mean squared residual of log|rho|) + parameters log n

is the least over the exponential curves, and that of the polynomial; their difference is the window's criterion,
positive where the polynomial is better. The residual does not count below the resolution of the samples, so that two
exact fits are told apart by their parameters alone. The median over the windows decides: beyond +-10, "very strong" on
the scale of Kass and Raftery; the windows guard against a verdict that rests on the first or the last few samples.
The rate of either family is the median over its windows.

A finite sum of exponentials is exponential in the end, and may yet be polynomial over the samples it was fitted to:
the verdict is about the samples given.

References: Schwarz (1978); Kass and Raftery, Bayes factors (1995).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stablessm.memory import curves
from stablessm.memory.curves import Curve
from stablessm.memory.tail import Tail, tail

KINDS = ("exponential", "polynomial", "undecided", "neither", "not_decaying", "too_few_points", "not_finite")
CUTS = (0.0, 0.25, 0.5)
DECISIVE = 10.0
_FEWEST = 5
_SPARE = 2  # points a curve needs beyond its parameters to be tried
_POOR = 0.5  # root mean squared residual of log|rho| beyond which a curve describes nothing
_LEAST_FALL = 0.02  # fall of log|rho| over the tail below which nothing decays


class Window(NamedTuple):
    """The fits over one window.

    Attributes:
        start: first time of the window.
        end: last time.
        points: how many points it holds.
        exponential: the best exponential curve.
        polynomial: the polynomial curve.
        criterion: BIC(exponential) - BIC(polynomial).
    """

    start: float
    end: float
    points: int
    exponential: Curve
    polynomial: Curve
    criterion: float

    def best(self, family: str) -> Curve:
        """Return the curve of a family, "exponential" or "polynomial"."""
        return self.polynomial if family == "polynomial" else self.exponential


class DecayFit(NamedTuple):
    """What a memory function's decay is.

    Attributes:
        kind: one of `KINDS`.
        criterion: median over the windows of BIC(exponential) - BIC(polynomial); NaN without a window.
        windows: the fits, the whole tail first; none where the kind is "too_few_points" or "not_finite".
    """

    kind: str
    criterion: float
    windows: tuple[Window, ...]

    @property
    def rate(self) -> float:
        """beta where the exponential is the better fit, p where the polynomial is; NaN without a fit."""
        return self.power if self.family == "polynomial" else self.exponential_rate

    @property
    def family(self) -> str:
        """The better family, decisively or not: "exponential" or "polynomial"."""
        return "polynomial" if self.criterion > 0 else "exponential"

    @property
    def exponential_rate(self) -> float:
        """beta of e^(-beta t), in 1/time; NaN without a fit."""
        return self.chosen("exponential").best("exponential").rate if self.windows else math.nan

    @property
    def power(self) -> float:
        """p of (1 + c t)^-p; NaN without a fit."""
        return self.chosen("polynomial").best("polynomial").rate if self.windows else math.nan

    def chosen(self, family: str) -> Window:
        """Return the window whose rate is the median (the later one of two) in a family."""
        order = sorted(range(len(self.windows)), key=lambda place: self.windows[place].best(family).rate)
        return self.windows[1 if len(order) == 2 else order[len(order) // 2]]

    def rates(self, family: str) -> tuple[float, ...]:
        """Return the rate of a family in each window."""
        return tuple(window.best(family).rate for window in self.windows)

    def residual(self, family: str) -> float:
        """Return the root mean squared residual of log|rho| in the window whose rate is reported."""
        return math.sqrt(self.chosen(family).best(family).square) if self.windows else math.nan

    def curve(self, times: ArrayLike, family: str | None = None) -> np.ndarray:
        """Return the reported curve of |rho| at times, NaN before its window; the better family by default."""
        family = family or self.family
        times = np.asarray(times, float)
        if not self.windows:
            return np.full(times.shape, np.nan)
        window = self.chosen(family)
        return np.where(times >= window.start, np.exp(window.best(family).log(times)), np.nan)


def fit_decay(
    times: ArrayLike, values: ArrayLike, *, floor: float | None = None, resolution: float | None = None
) -> DecayFit:
    """Fit the decay of a memory function.

    Args:
        times: from 0 on, increasing, shape (samples,); the origin matters to the polynomial.
        values: rho or |rho| there.
        floor: share of the largest sample below which samples are left out as rounding; by default that at which the
            rounding of the values' dtype may reach one per cent.
        resolution: error of log|rho| of a sample below which residuals do not count; by default 16 times the rounding
            of the values' dtype.

    Raises:
        ValueError: times and values of different shapes, or times that do not increase.

    Example:
        >>> import numpy as np
        >>> fit = fit_decay(np.arange(100.0), (1 + np.arange(100.0)) ** -1.1)
        >>> fit.kind, round(fit.rate, 6)
        ('polynomial', 1.1)
    """
    times, values = np.asarray(times, float), np.asarray(values)
    if times.ndim != 1 or times.shape != values.shape:
        raise ValueError(f"`times` and `values` must have one shape (samples,), but got {times.shape}, {values.shape}")
    if (np.diff(times) <= 0).any() or (times < 0).any():
        raise ValueError("`times` must increase from 0 or later")
    if not np.isfinite(values).all():
        return DecayFit("not_finite", math.nan, ())
    if resolution is None:
        kind = values.dtype if values.dtype.kind == "f" else np.dtype(float)
        resolution = 16 * float(np.finfo(kind).eps)
    points = tail(times, values, floor=floor)
    if len(points.time) < _FEWEST:
        return DecayFit("not_decaying" if points.grows else "too_few_points", math.nan, ())
    windows = tuple(_window(time, log, resolution) for time, log in _windows(points))
    criterion = float(np.median([window.criterion for window in windows]))
    fit = DecayFit("undecided", criterion, windows)
    return fit._replace(kind=_kind(fit, points))


def _kind(fit: DecayFit, points: Tail) -> str:
    fall = fit.exponential_rate * (points.time[-1] - points.time[0])
    if points.grows or fall < _LEAST_FALL:
        return "not_decaying"
    if fit.residual(fit.family) > _POOR:
        return "neither"
    return fit.family if abs(fit.criterion) > DECISIVE else "undecided"


def _windows(points: Tail) -> list[tuple[np.ndarray, np.ndarray]]:
    fall = points.log[0] - np.minimum.accumulate(points.log)
    starts = dict.fromkeys(int(np.argmax(fall >= cut * fall[-1])) for cut in CUTS)
    return [(points.time[s:], points.log[s:]) for s in starts if len(points.time) - s >= _FEWEST]


def _window(time: np.ndarray, log: np.ndarray, resolution: float) -> Window:
    def bic(curve: Curve) -> float:
        return len(log) * math.log(max(curve.square, resolution**2)) + curve.parameters * math.log(len(log))

    exponentials = [curves.simple(time, log)]
    if exponentials[0].square > resolution**2 and len(log) >= curves.MOST_PARAMETERS + _SPARE:
        exponentials += [curves.repeated(time, log)] if curves.is_concave(time, log) else []
        two_rates = curves.two_rates(time, log)
        exponentials += [] if two_rates is None else [two_rates]
    exponential, polynomial = min(exponentials, key=bic), curves.polynomial(time, log)
    return Window(time[0], time[-1], len(log), exponential, polynomial, bic(exponential) - bic(polynomial))
