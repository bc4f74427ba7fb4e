"""Random numbers that are the same at every precision, so that float32 and float64 runs start from one place.

JAX draws other numbers in float64 than in float32 from one key. A start is therefore always drawn in float32 and then
taken to the precision of the run; what is computed from it is computed there.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def normal(key: Array, shape: tuple[int, ...]) -> Array:
    """Return samples of N(0, 1), of the run's float type."""
    return jax.random.normal(key, shape, jnp.float32).astype(jnp.result_type(float))


def uniform(key: Array, shape: tuple[int, ...]) -> Array:
    """Return samples of [0, 1), of the run's float type."""
    return jax.random.uniform(key, shape, jnp.float32).astype(jnp.result_type(float))


def log_uniform(key: Array, shape: tuple[int, ...], low: float, high: float) -> Array:
    """Return samples whose logarithm is uniform, within [low, high], of the run's float type."""
    bottom, top = jnp.log(jnp.asarray([low, high], jnp.result_type(float)))
    return jnp.clip(jnp.exp(bottom + (top - bottom) * uniform(key, shape)), low, high)
