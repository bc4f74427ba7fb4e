"""Gradient over weight: the number the criterion of StableSSM bounds."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def gradient_to_weight(gradient: Array, weight: Array) -> Array:
    """Return |g| / |w| elementwise: 0 where g = 0 (at w = 0 too), infinite where only w = 0."""
    ratio = jnp.abs(gradient) / jnp.abs(weight)
    return jnp.where(gradient == 0, jnp.zeros_like(ratio), ratio)


def quantiles(values: Array) -> Array:
    """Return the quantiles `QUANTILES` over the recurrent weights, the last being the maximum, shape (5,)."""
    return jnp.quantile(values, jnp.asarray(QUANTILES, values.dtype), method="nearest")
