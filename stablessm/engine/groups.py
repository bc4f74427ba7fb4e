"""A few channels at a time: what a bank computes on the way stays in cache, and outputs are written where they belong.

On CPUs a bank over (batch, channels, time) is bound by memory where each of its steps (transform, product, transform;
or inputs, states, outputs) runs over all series before the next begins. The backward pass runs each group again, so
that nothing is kept for it but inputs: on CPUs that is as fast as reading what was kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def largest_group(channels: int, bytes_each: int, cache: int) -> int:
    """Return how many channels fit in the cache, as a divisor of their number and at least 1.

    Args:
        channels: how many there are.
        bytes_each: of what a channel computes on the way.
        cache: bytes.

    Example:
        >>> largest_group(64, 100_000, 2**20)
        8
    """
    most = max(1, min(channels, cache // max(bytes_each, 1)))
    return next(size for size in range(most, 0, -1) if channels % size == 0)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def in_groups(function: Callable, group: int, own: Any, series: Array) -> tuple[Array, Any]:
    """Run a function of one channel on groups of channels in turn.

    Args:
        function: (own, series) of a channel, the series of shape (batch, time) -> (outputs of that shape, a pytree).
        group: channels at a time, a divisor of their number.
        own: pytree of what belongs to channels, which are the leading axis.
        series: shape (batch, channels, time).

    Returns:
        (outputs, pytree) of all channels, of shape (batch, channels, time) and with channels first.
    """
    run = _of_group(function, group)

    def one(outputs: Array, part: tuple) -> tuple[Array, Any]:
        place, own = part
        mine, rest = run(own, _at(series, place, group))
        return _written(outputs, mine, place, group), rest

    outputs, rest = jax.lax.scan(one, jnp.zeros_like(series), (_starts(series, group), _folded(own, group)))
    return outputs, _unfolded(rest, group)


def _forward(function: Callable, group: int, own: Any, series: Array) -> tuple[tuple[Array, Any], tuple]:
    return in_groups(function, group, own, series), (own, series)


def _backward(function: Callable, group: int, kept: tuple, pull: tuple[Array, Any]) -> tuple[Any, Array]:
    own, series = kept
    outputs, rest = pull
    run = _of_group(function, group)

    def one(slopes: Array, part: tuple) -> tuple[Array, Any]:
        place, own, rest = part
        _, back = jax.vjp(run, own, _at(series, place, group))
        to_own, to_series = back((_at(outputs, place, group), rest))
        return _written(slopes, to_series, place, group), to_own

    every = (_starts(series, group), _folded(own, group), _folded(rest, group))
    to_series, to_own = jax.lax.scan(one, jnp.zeros_like(series), every)
    return _unfolded(to_own, group), to_series


in_groups.defvjp(_forward, _backward)


# A group of one has no axis of channels: XLA's products over a batch of one are up to twice as slow as plain ones.


def _of_group(function: Callable, group: int) -> Callable:
    return function if group == 1 else jax.vmap(function, in_axes=(0, 1), out_axes=(1, 0))


def _starts(series: Array, group: int) -> np.ndarray:
    return np.arange(0, series.shape[1], group)


def _at(series: Array, place: Array, group: int) -> Array:
    if group == 1:
        return jax.lax.dynamic_index_in_dim(series, place, 1, keepdims=False)
    return jax.lax.dynamic_slice_in_dim(series, place, group, 1)


def _written(series: Array, part: Array, place: Array, group: int) -> Array:
    update = jax.lax.dynamic_update_index_in_dim if group == 1 else jax.lax.dynamic_update_slice_in_dim
    return update(series, part, place, 1)


def _folded(own: Any, group: int) -> Any:
    return own if group == 1 else jax.tree.map(lambda leaf: leaf.reshape(-1, group, *leaf.shape[1:]), own)


def _unfolded(own: Any, group: int) -> Any:
    return own if group == 1 else jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), own)
