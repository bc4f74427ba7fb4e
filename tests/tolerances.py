"""The one place where tolerances come from: the dtype and the condition number of what is computed."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

_ULPS = 8.0


def tolerance(
    dtype: object, scale: np.ndarray, condition: np.ndarray | float = 0.0, amplification: np.ndarray | float = 1.0
) -> np.ndarray:
    """Return the absolute error allowed in a result computed in a dtype from exact inputs.

    A backward-stable algorithm gives the exact result of inputs disturbed by a few units in the last place, so its
    relative error is a few eps (1 + condition). Floats below the smallest normal number are flushed to zero, in
    intermediate results too, which may be some times smaller than the final one.

    Args:
        dtype: of the computation.
        scale: size of the exact results (for a sum, the size of its terms).
        condition: sum of the relative condition numbers |x f'(x)/f(x)| of the inputs and intermediate quantities.
        amplification: largest factor by which an intermediate result that may have been flushed is multiplied.
    """
    information = jnp.finfo(dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        relative = float(information.eps) * _ULPS * (1 + np.asarray(condition, float))
        return relative * np.abs(scale) + 32 * float(information.tiny) * np.maximum(1, amplification)


def assert_close(
    actual: np.ndarray,
    expected: np.ndarray,
    *,
    condition: np.ndarray | float = 0.0,
    scale: np.ndarray | None = None,
    amplification: np.ndarray | float = 1.0,
    dtype: object = None,
) -> None:
    """Assert that results are within `tolerance` of exact values given in a wider type.

    Where the exact value overflows the dtype an infinity of its sign, or the largest float, is demanded.

    Args:
        actual: computed results; their dtype sets the tolerance unless `dtype` is given.
        expected: exact values in float64 (beyond its range: infinite).
        condition: as for `tolerance`.
        amplification: as for `tolerance`.
        scale: as for `tolerance`; the exact values by default.
        dtype: dtype of the computation where the results were widened afterwards.
    """
    dtype = np.asarray(actual).dtype if dtype is None else dtype
    information = jnp.finfo(dtype)
    largest = float(information.max)
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    allowed = tolerance(dtype, expected if scale is None else scale, condition, amplification)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(actual - expected) <= allowed
        overflowing = (np.abs(expected) + allowed >= largest) & (np.sign(actual) == np.sign(expected))
        close |= overflowing & (np.abs(actual) >= largest * (1 - 64 * float(information.eps)))
    if not close.all():
        places = np.argwhere(~np.atleast_1d(close))
        lines = [
            f"at {tuple(map(int, place))}: {np.atleast_1d(actual)[tuple(place)]!r} is not"
            f" {np.atleast_1d(expected)[tuple(place)]!r} within {np.atleast_1d(allowed)[tuple(place)]:.3g}"
            for place in places[:8]
        ]
        raise AssertionError(f"{len(places)} of {close.size} values differ\n" + "\n".join(lines))
