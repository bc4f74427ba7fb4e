"""The context form as a bound: |y_T - y'_T| <= a e^(-beta l) |dx| for every lag l that was measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stablessm.memory.decay import fit_decay

FORGOTTEN = 0.01  # of the largest: what is below it no longer counts as remembered


class ContextBound(NamedTuple):
    """The exponential bound on context, and how far back context reaches.

    Attributes:
        decay: beta, the fitted exponential rate, in 1/lag; NaN where nothing could be fitted, not above 0 where nothing
            decays.
        amplitude: a, the smallest number with which the bound holds at every measured lag; NaN without beta.
        effective_context: the first measured lag from which on every difference is below 1% of the largest; infinite
            where the last one is not.
    """

    decay: float
    amplitude: float
    effective_context: float


def context_bound(lags: ArrayLike, differences: ArrayLike) -> ContextBound:
    """Fit the bound.

    Args:
        lags: from 0 on, increasing, shape (lags,).
        differences: |y_T - y'_T| / |dx| there, as `context_differences` gives them.

    Example:
        >>> import numpy as np
        >>> bound = context_bound(np.arange(60.0), 3 * np.exp(-0.1 * np.arange(60.0)))
        >>> round(bound.decay, 6), round(bound.amplitude, 6), bound.effective_context
        (0.1, 3.0, 47.0)
    """
    lags, sizes = np.asarray(lags, float), np.abs(np.asarray(differences))
    if not np.isfinite(sizes).all():
        return ContextBound(np.nan, np.nan, np.inf)
    decay = fit_decay(lags, sizes).exponential_rate
    with np.errstate(all="ignore"):
        amplitude = float((sizes * np.exp(decay * lags)).max())
    felt = np.flatnonzero(sizes >= FORGOTTEN * sizes.max(initial=0.0)) if sizes.max(initial=0.0) > 0 else []
    last = felt[-1] if len(felt) else -1
    effective = float(lags[last + 1]) if last + 1 < len(lags) else np.inf
    return ContextBound(decay, amplitude, effective)
