"""What of a memory function a fit of its decay looks at: the tail of its envelope, thinned evenly over its fall.

Zero crossings of a signed kernel make log|rho| dip without bound, and what comes before the peak is no decay. The fit
therefore sees, of |rho|,

- where |rho| oscillates, its local maxima,
- else the samples that no later sample exceeds: the touching points of the least non-increasing majorant,

and of these at most `MOST_POINTS`, evenly spaced in log|rho|, so that each e-fold of the fall counts alike whether it
takes one step or a hundred.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_POINTS = 64
_OSCILLATES = 5  # local maxima
_ROUNDINGS = 16  # errors of a sample, in units of the rounding of the largest one
_CERTAIN = 0.01  # relative error of a sample that is still looked at


class Tail(NamedTuple):
    """Points of the envelope of a memory function.

    Attributes:
        time: increasing, shape (points,).
        log: log of the envelope there.
        oscillates: whether the points are local maxima.
        grows: whether the largest sample is among the last ones.
    """

    time: np.ndarray
    log: np.ndarray
    oscillates: bool
    grows: bool


def floor_of(values: np.ndarray) -> float:
    """Return the share of the largest sample below which rounding may exceed one per cent: 2e-4 in float32."""
    kind = values.dtype if values.dtype.kind == "f" else np.dtype(float)
    return _ROUNDINGS / _CERTAIN * float(np.finfo(kind).eps)


def tail(times: np.ndarray, values: np.ndarray, *, floor: float | None = None) -> Tail:
    """Return the points of the decay of a memory function.

    Args:
        times: increasing, shape (samples,).
        values: rho or |rho| there, finite.
        floor: share of the largest sample below which samples are left out; by default `floor_of(values)`.

    Example:
        >>> import numpy as np
        >>> tail(np.arange(4.0), np.array([0.0, 1.0, 0.1, 0.5])).time.tolist()
        [1.0, 3.0]
    """
    floor = floor_of(np.asarray(values)) if floor is None else floor
    times, size = np.asarray(times, float), np.abs(np.asarray(values, float))
    largest = size.max(initial=0.0)
    grows = bool(largest > 0 and np.argmax(size) >= max(1, 0.95 * (len(size) - 1)))
    peaks = 1 + np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:]))
    above = size > floor * largest
    oscillates = int(above[peaks].sum()) >= _OSCILLATES
    if oscillates:
        kept = peaks[above[peaks]]
    else:
        later = np.maximum.accumulate(size[::-1])[::-1]
        kept = np.flatnonzero(above & (size >= np.append(later[1:], 0.0)))
    time, log = times[kept], np.log(size[kept])
    chosen = _spread(log)
    return Tail(time[chosen], log[chosen], oscillates, grows)


def _spread(log: np.ndarray) -> np.ndarray:
    """Return the places of at most `MOST_POINTS` points, evenly spaced in the running minimum of `log`."""
    if len(log) <= MOST_POINTS:
        return np.arange(len(log))
    fall = log[0] - np.minimum.accumulate(log)
    if fall[-1] == 0:
        return np.unique(np.linspace(0, len(log) - 1, MOST_POINTS).round().astype(int))
    return np.unique(np.searchsorted(fall, np.linspace(0, fall[-1], MOST_POINTS)))
