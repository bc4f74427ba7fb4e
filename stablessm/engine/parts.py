"""Complex arrays as two real ones, and histories of states: what the recurrences share.

XLA does not vectorise complex multiplication inside of a loop on CPUs. Time is the leading axis of a history.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

_EXACT = jax.lax.Precision.HIGHEST
Parts = tuple[Array, Array | None]


def parts_of(array: Array, is_complex: bool) -> Parts:
    """Return real and imaginary part; None for the latter where nothing is complex."""
    if not is_complex:
        return array, None
    return array.real, array.imag if jnp.iscomplexobj(array) else jnp.zeros_like(array)


def joined_parts(parts: Parts) -> Array:
    """Return the array that the parts stand for."""
    return parts[0] if parts[1] is None else jax.lax.complex(*parts)


def each(function: Callable[[Array], Array], parts: Parts) -> Parts:
    """Return a function of either part."""
    return tuple(None if part is None else function(part) for part in parts)


def time_first(inputs: Array | Parts, is_complex: bool) -> Parts:
    """Return parts with the last axis but one, time, in front."""
    parts = inputs if isinstance(inputs, tuple) else parts_of(inputs, is_complex)
    return each(lambda part: jnp.moveaxis(part, -2, 0), parts)


def product(inputs: Array, matrix: Array | None) -> Array | Parts:
    """Return B u, shape (..., states), in real products; the inputs themselves without a matrix."""
    if matrix is None:
        return inputs
    multiply = partial(jnp.einsum, "...p,np->...n", precision=_EXACT)
    if not jnp.iscomplexobj(matrix):
        return multiply(inputs, matrix)
    if jnp.iscomplexobj(inputs):
        return jax.lax.complex(
            multiply(inputs.real, matrix.real) - multiply(inputs.imag, matrix.imag),
            multiply(inputs.real, matrix.imag) + multiply(inputs.imag, matrix.real),
        )
    return multiply(inputs, matrix.real), multiply(inputs, matrix.imag)


def read(history: Parts, matrix: Array | None) -> Array:
    """Return Re C h, or h without a matrix."""
    if matrix is None:
        return joined_parts(history)
    multiply = partial(jnp.einsum, "...n,mn->...m", precision=_EXACT)
    outputs = multiply(history[0], matrix.real)
    if history[1] is None or not jnp.iscomplexobj(matrix):
        return outputs
    return outputs - multiply(history[1], matrix.imag)


def ended(history: Parts, start: Parts, lengths: Array | None) -> Array:
    """Return the state after the last step, or after `lengths` of them; of no step it is the start.

    Args:
        history: h after each step, shape (time, *batch, states).
        start: h before the first, shape (*batch, states).
        lengths: how many steps count, shape (*batch,), at most all; None for all.
    """
    if lengths is None:
        return joined_parts(each(lambda part: part[-1], history) if history[0].shape[0] else start)
    count = jnp.minimum(lengths, history[0].shape[0])[None, ..., None]
    whole = (None if h is None else jnp.concatenate([s[None], h]) for s, h in zip(start, history, strict=True))
    return joined_parts(each(lambda part: jnp.take_along_axis(part, count, axis=0)[0], tuple(whole)))


def outputs_of(history: Parts, readout: Array | None, lengths: Array | None) -> Array:
    """Return what is read from a history, shape (*batch, time, outputs), 0 beyond the steps that count."""
    outputs = jnp.moveaxis(read(history, readout), 0, -2)
    if lengths is None:
        return outputs
    return jnp.where(jnp.arange(outputs.shape[-2])[:, None] < lengths[..., None, None], outputs, 0)
