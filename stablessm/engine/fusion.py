"""Values that are computed once and read many times, where a compiler would compute them at every reading."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

_FEWEST = 128  # below so many values the loop costs more than it saves


def computed_once(array: Array) -> Array:
    """Return the array as it is, with what computes it kept apart from what reads it.

    XLA fuses what makes a value into what reads it, which for a table of powers is each entry: the sines and series of
    a zero-order hold then run once an entry and not once a pole, for most of the time of a kernel. On CPUs it takes
    `jax.lax.optimization_barrier` away before it fuses; what it leaves is a loop, and two steps that copy half the
    array each are one. On other platforms, and for fewer values than repay a loop, nothing is done. Differentiable, and
    maps over further axes.

    Args:
        array: any shape and dtype.

    Example:
        >>> computed_once(jnp.arange(3)).tolist()
        [0, 1, 2]
    """
    if jax.default_backend() != "cpu" or array.size < _FEWEST:
        return array
    halves = jnp.pad(array.reshape(-1), (0, array.size % 2)).reshape(2, -1)

    def copy(place: Array, into: Array) -> Array:
        half = jax.lax.dynamic_index_in_dim(halves, place, keepdims=False)
        return jax.lax.dynamic_update_index_in_dim(into, half, place, 0)

    copied = jax.lax.fori_loop(0, 2, copy, jnp.zeros_like(halves))
    return copied.reshape(-1)[: array.size].reshape(array.shape)
