"""Banks of modes: one series in, one series out, with the state carried."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Inexact, Integer

from stablessm.engine.choice import CHOICES, choose
from stablessm.engine.chunked import chunk_size, run_bank
from stablessm.engine.convolution import convolve
from stablessm.engine.poles import Poles
from stablessm.engine.powers import power_parts, powers
from stablessm.engine.recurrence import recur
from stablessm.engine.vandermonde import kernel

_EXACT = jax.lax.Precision.HIGHEST


def filter_bank(
    poles: Poles,
    weights: Inexact[Array, "*channels states"],
    inputs: Float[Array, "*batch time"],
    state: Inexact[Array, "*batch states"] | None = None,
    *,
    method: str = "auto",
    lengths: Integer[Array, "*batch"] | None = None,
    gradient: bool = False,
    chunk: int | None = None,
) -> tuple[Array, Array]:
    """Run y_k = Re sum_n w_n h_n,k with h_n,k = lambda_n h_n,k-1 + u_k: the convolution with `kernel`, state included.

    Args:
        poles: shape (states,), or (*channels, states).
        weights: w (readout times input weight); leading axes broadcast with those of the poles.
        inputs: u, real; leading axes end with the channels, or broadcast with them. Time may be empty.
        state: h before the first step, of every series; zero by default.
        method: "convolution", "chunked", "scan", or "associative" (see `recur`); "auto" asks `choose`.
        lengths: how many steps of each series count: the returned state is that after so many, outputs beyond are 0.
        gradient: whether derivatives will be taken; a hint for the choice.
        chunk: T of the chunked method; by default from the length.

    Returns:
        (outputs, state): shapes (*batch, time) and (*batch, states). Running on from the state equals one pass, at any
        split and by any methods; the state costs nothing under `jax.jit` if it is not used. No step keeps it. Of
        growing poles only the scan overflows where they do: chunks need lambda^T finite, the convolution lambda^length.

    Raises:
        ValueError: an unknown method, or shapes that do not fit.

    Example:
        >>> filter_bank(poles(np.log([0.5])), jnp.ones(1), jnp.array([1.0, 0.0, 0.0]))[0].tolist()
        [1.0, 0.5, 0.25]
    """
    legal = ("auto", "associative", *CHOICES)
    if method not in legal:
        raise ValueError(f"`method` of a bank must be one of {', '.join(legal)}, but got {method!r}")
    if not poles.shape or poles.shape[-1:] != weights.shape[-1:]:
        raise ValueError(f"`poles` {poles.shape} and `weights` {weights.shape} must share their last axis, the states")
    length, states = inputs.shape[-1], poles.shape[-1]
    channels = jnp.broadcast_shapes(poles.shape[:-1], weights.shape[:-1])
    series = jnp.broadcast_shapes(inputs.shape[:-1], channels, () if state is None else state.shape[:-1])
    kind = jnp.result_type(poles.dtype, jnp.complex64) if poles.is_complex else poles.dtype
    start = jnp.zeros((*series, states), kind) if state is None else jnp.broadcast_to(state, (*series, states))
    inputs = jnp.broadcast_to(inputs, (*series, length))
    if lengths is not None:
        lengths = jnp.broadcast_to(jnp.asarray(lengths), series)
        inputs = jnp.where(jnp.arange(length) < lengths[..., None], inputs, 0)
    if length == 0 or inputs.size == 0 or states == 0:
        return jnp.zeros_like(inputs), start
    if method == "auto":
        method = choose(states, length, gradient=gradient, platform=jax.default_backend())
    if method in ("scan", "associative"):
        outputs, last = _states(poles, weights, inputs, start, method, lengths)
    elif method == "convolution":
        outputs = _convolution(poles, weights, inputs, None if state is None else start, channels)
        last = last_state(poles, inputs, start, lengths)
    else:
        outputs, last = _chunks(poles, weights, inputs, start, channels, chunk or chunk_size(length))
        last = last if lengths is None else last_state(poles, inputs, start, lengths)
    return outputs if lengths is None else jnp.where(jnp.arange(length) < lengths[..., None], outputs, 0), last


def _states(
    poles: Poles, weights: Array, inputs: Array, state: Array, method: str, lengths: Array | None
) -> tuple[Array, Array]:
    """Through the states themselves: every (series, mode) is a state of one long recurrence."""
    series, states = inputs.shape[:-1], poles.shape[-1]
    every = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*series, states)).reshape(-1), poles)
    driven = jnp.broadcast_to(inputs[..., None, :], (*series, states, inputs.shape[-1]))
    driven = driven.reshape(-1, inputs.shape[-1]).T
    history, last = recur(every, driven, state.reshape(-1), method=method)
    history = jnp.moveaxis(history.reshape(-1, *series, states), 0, -2)  # (*series, time, states)
    outputs = jnp.einsum("...kn,...n->...k", history.real, weights.real, precision=_EXACT)
    if poles.is_complex and jnp.iscomplexobj(weights):
        outputs = outputs - jnp.einsum("...kn,...n->...k", history.imag, weights.imag, precision=_EXACT)
    if lengths is None:
        return outputs, last.reshape(*series, states)
    whole = jnp.concatenate([state[..., None, :], history], axis=-2)
    return outputs, jnp.take_along_axis(whole, lengths[..., None, None], axis=-2)[..., 0, :]


def _convolution(poles: Poles, weights: Array, inputs: Array, state: Array | None, channels: tuple[int, ...]) -> Array:
    length = inputs.shape[-1]
    outputs = convolve(inputs, kernel(poles, jnp.broadcast_to(weights, (*channels, poles.shape[-1])), length))
    if state is None:
        return outputs
    # What the state still sends: the kernel with weights w lambda h
    return outputs + kernel(poles, weights * powers(poles, np.array(1)) * state, length)


def _chunks(
    poles: Poles, weights: Array, inputs: Array, state: Array, channels: tuple[int, ...], size: int
) -> tuple[Array, Array]:
    flat = _by_channel(poles, channels)
    parts = (weights.real, weights.imag if poles.is_complex and jnp.iscomplexobj(weights) else None)
    parts = tuple(None if one is None else jnp.broadcast_to(one, (*channels, poles.shape[-1])).reshape(flat.shape)
                  for one in parts)  # fmt: skip
    both = jnp.concatenate([state.real, state.imag], axis=-1) if poles.is_complex else state
    flattened = (one.reshape(-1, flat.shape[0], one.shape[-1]) for one in (inputs, both))
    outputs, last = run_bank(flat, parts, *flattened, size, platform=jax.default_backend())
    last = last.reshape(both.shape)
    return outputs.reshape(inputs.shape), jax.lax.complex(*jnp.split(last, 2, -1)) if poles.is_complex else last


def _by_channel(poles: Poles, channels: tuple[int, ...]) -> Poles:
    shape = (*channels, poles.shape[-1])
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, shape).reshape(-1, shape[-1]), poles)


def last_state(
    poles: Poles,
    inputs: Float[Array, "*batch time"],
    state: Inexact[Array, "*batch states"] | None = None,
    lengths: Integer[Array, "*batch"] | None = None,
) -> Inexact[Array, "*batch states"]:
    """Return sum_j lambda^(L - 1 - j) u_j + lambda^L h, the state after all steps, without the states on the way.

    Args:
        poles: shape (states,), or (*channels, states) where the axes before time end with the channels.
        inputs: u, real.
        state: h before the first step; zero by default.
        lengths: L of each series, where it is not all of time; inputs beyond must be zero.
    """
    if inputs.size == 0:
        empty = jnp.zeros((*inputs.shape[:-1], poles.shape[-1]), jnp.complex64 if poles.is_complex else poles.dtype)
        return empty if state is None else state
    length = inputs.shape[-1]
    size = min(length, chunk_size(length))
    whole = -(-length // size)
    if lengths is not None:  # each series is moved to end at the last step, zeros before it
        places = jnp.arange(length) - (length - lengths[..., None])
        inputs = jnp.where(places < 0, 0, jnp.take_along_axis(inputs, jnp.maximum(places, 0), axis=-1))
    flat = _by_channel(poles, poles.shape[:-1])
    padded = jnp.pad(inputs, [(0, 0)] * (inputs.ndim - 1) + [(whole * size - length, 0)])
    chunks = padded.reshape(-1, flat.shape[0], whole, size)
    fine, coarse = (power_parts(flat, steps) for steps in (np.arange(size)[::-1], size * np.arange(whole)[::-1]))
    x, y = (None if one is None else jnp.einsum("bhqt,hnt->bhnq", chunks, one, precision=_EXACT) for one in fine)
    if y is None:
        added = (coarse[0] * x).sum(-1)
    else:
        added = jax.lax.complex(
            (coarse[0] * x - coarse[1] * y).sum(-1), (coarse[0] * y + coarse[1] * x).sum(-1)
        )  # fmt: skip
    added = added.reshape(*inputs.shape[:-1], poles.shape[-1])
    if state is None:
        return added
    if lengths is None:
        return powers(poles, np.array(length)) * state + added
    series = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, state.shape).reshape(-1, state.shape[-1]), poles)
    decayed = jax.vmap(powers)(series, lengths.reshape(-1)).reshape(state.shape)
    return decayed * state + added
