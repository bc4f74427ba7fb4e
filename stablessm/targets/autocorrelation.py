"""The measured autocorrelation of a series, as a memory kernel."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from stablessm.targets.errors import TargetError


def autocorrelation(series: np.ndarray, length: int) -> np.ndarray:
    r"""Return the autocorrelation of a series at the lags 0 .. length - 1.

    The estimator is the biased autocovariance, normalised: with m the mean of the n values,

        r_k = sum_{t < n - k} (x_t - m)(x_{t+k} - m) / sum_t (x_t - m)^2.

    Every lag is divided by n and not by n - k, so that the sequence is positive semidefinite, as the autocorrelation of
    a stationary series is, and r_0 = 1 is its largest value; far lags are shrunk by 1 - k/n for it. All lags come from
    one Fourier transform, the series padded with zeros to at least n + length - 1 so that nothing wraps around.

    Args:
        series: real values, shape (n,).
        length: number of lags, at most n.

    Returns:
        float64, shape (length,).

    Raises:
        TargetError: fewer than two values, more lags than values, or a series that does not vary.

    Example:
        >>> autocorrelation(np.array([1.0, -1.0, 1.0, -1.0]), 3).round(12).tolist()
        [1.0, -0.75, 0.5]

    References: Brockwell and Davis, Time Series: Theory and Methods (1991), section 7.2.
    """
    series = np.asarray(series, np.float64)
    if series.size < 2 or not 1 <= length <= series.size:
        raise TargetError(f"a series of {series.size} values has no autocorrelation at {length} lags")
    scale = np.abs(series).max()
    centred = series / scale - (series / scale).mean() if scale else series
    if not (np.abs(centred) > 1e-12).any():
        raise TargetError("a series that does not vary has no autocorrelation")
    padded = next_fast_len(series.size + length - 1, real=True)
    power = np.abs(rfft(centred, padded)) ** 2
    covariance = irfft(power, padded)[:length]
    return covariance / covariance[0]
