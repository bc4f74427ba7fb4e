"""Means over a few steps, so that what stands behind them is shorter and cheaper."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def pooled(y: Array, size: int, length: Array | int | None = None) -> Array:
    """Return the means of `size` steps each; the last ones may be of fewer.

    Args:
        y: shape (time, features).
        size: steps of a mean; 1 leaves the series as it is.
        length: number of steps that count, possibly traced; all by default. A mean of none that count is 0.

    Returns:
        Shape (ceil(time / size), features).

    Example:
        >>> pooled(jnp.array([[1.0], [3.0], [5.0]]), 2).ravel().tolist()
        [2.0, 5.0]
    """
    if size == 1:
        return y
    time, features = y.shape
    whole = -(-time // size)
    if length is None and whole * size == time:
        return y.reshape(whole, size, features).mean(1)
    counted = jnp.minimum(time, time if length is None else length) - size * jnp.arange(whole)
    y = jnp.where((jnp.arange(time) < (time if length is None else length))[:, None], y, 0)
    sums = jnp.pad(y, ((0, whole * size - time), (0, 0))).reshape(whole, size, features).sum(1)
    return sums / jnp.clip(counted, 1, size)[:, None].astype(y.dtype)


def pooled_length(length: Array | int | None, size: int) -> Array | int | None:
    """Return how many means have a step that counts.

    Args:
        length: number of steps that count, None for all.
        size: steps of a mean.

    Example:
        >>> pooled_length(5, 2), pooled_length(None, 2)
        (3, None)
    """
    return None if length is None else -(-length // size)
