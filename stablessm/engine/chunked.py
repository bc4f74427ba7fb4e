"""A bank of modes read out as one series, y_k = Re sum_n w_n h_n, h = lambda h + u: in chunks, with the state carried.

With T steps to a chunk and P_j = lambda^(T - 1 - j), W_r = w lambda^(r + 1), K the kernel of the first T lags,

    y_chunk = Toeplitz(K) u_chunk + Re W h,        h_next = lambda^T h + P u_chunk :

three real matrix products over all chunks and series of a channel at once, and a loop over chunks that touches only
states. Nothing is divided by a power, so that strong decay is as exact as weak; lambda^T is two words (`carry.py`), so
that long memories do not drift; and no array of modes by time exists. The backward pass is written out: the same
products transposed, the loop in reversed time; what it keeps are the states between chunks.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.engine.carry import Parts, carry_words
from stablessm.engine.groups import in_groups
from stablessm.engine.growth import Bank, by_steps, overflows
from stablessm.engine.poles import Poles
from stablessm.engine.powers import power_parts

_EXACT = jax.lax.Precision.HIGHEST


class Chunk(NamedTuple):
    """What a chunk of T steps does, of one channel.

    Attributes:
        toeplitz: what the inputs of a chunk do to its outputs, shape (T, T).
        read: what the state does to them, (2N, T); real and imaginary parts side by side, N for real poles.
        inject: what the inputs do to the next state, (T, 2N).
        jump: leading words of lambda^T, real and imaginary part, (N,).
        rest: what is left of it.
    """

    toeplitz: Array
    read: Array
    inject: Array
    jump: Parts
    rest: Parts


def _dot(one: Array, two: Array) -> Array:
    return jnp.matmul(one, two, precision=_EXACT)


def chunk_size(length: int) -> int:
    """Return T: 64 keeps the Toeplitz product below the products with the states; longer series take longer loops."""
    return 64 if length <= 2**15 else 128


def run_bank(
    poles: Poles, weights: tuple[Array, Array | None], inputs: Array, state: Array, size: int, *, platform: str
) -> tuple[Array, Array]:
    """Run a bank, on CPUs a channel at a time, whose states stay in cache.

    Args:
        poles: shape (channels, states).
        weights: real and imaginary part, each of that shape.
        inputs: shape (batch, channels, time), time at least 1.
        state: real and imaginary parts side by side (real parts alone for real poles): (batch, channels, 2N or N).
        size: T.
        platform: "cpu" or another.

    Returns:
        (outputs, state), of the shapes of inputs and state.
    """
    size = min(size, inputs.shape[-1])
    return jax.lax.cond(
        overflows(poles, size),
        jax.checkpoint(partial(by_steps, size=size)),
        partial(_in_chunks, size=size, platform=platform),
        (poles, weights, inputs, state),
    )


def _in_chunks(bank: Bank, size: int, platform: str) -> tuple[Array, Array]:
    poles, weights, inputs, state = bank
    channels, length = inputs.shape[1:]
    table = power_parts(poles, np.arange(size + 1))
    whole, rest = (_chunk(poles, table, weights, steps) if steps else None for steps in (size, length % size))
    group = 1 if platform == "cpu" else channels
    outputs, last = in_groups(_run_channel, group, (whole, rest, state.swapaxes(0, 1)), inputs)
    return outputs, last.swapaxes(0, 1)


def _run_channel(own: tuple[Chunk, Chunk | None, Array], inputs: Array) -> tuple[Array, Array]:
    """One channel, over whole chunks and what is left of the series: inputs (batch, time), state (batch, 2N)."""
    chunk, rest, state = own
    batch, length = inputs.shape
    size = chunk.toeplitz.shape[0]
    left = length % size
    first = inputs[:, : length - left].reshape(batch, -1, size).swapaxes(0, 1)
    outputs, state = _chunks(chunk, first, state)
    outputs = outputs.swapaxes(0, 1).reshape(batch, length - left)
    if rest is None:
        return outputs, state
    tail, state = _chunks(rest, inputs[None, :, length - left :], state)
    return jnp.concatenate([outputs, tail[0]], axis=-1), state


def _chunk(poles: Poles, table: Parts, weights: tuple[Array, Array | None], size: int) -> Chunk:
    """The chunks of all channels, from lambda^0 .. lambda^T."""
    real, imaginary = table
    w, v = (None if one is None else one[..., None] for one in weights)
    if imaginary is None:
        read = w * real[..., 1 : size + 1]
        inject = _reversed(real, size)
        jump = (real[..., size], None)
    else:
        x, y = real[..., 1 : size + 1], imaginary[..., 1 : size + 1]
        turned = (w * x, -w * y) if v is None else (w * x - v * y, -(w * y + v * x))
        read = jnp.concatenate(turned, axis=-2)
        inject = jnp.concatenate([_reversed(real, size), _reversed(imaginary, size)], axis=-2)
        jump = (real[..., size], imaginary[..., size])
    kernel = _dot(weights[0][..., None, :], real[..., :size])
    if weights[1] is not None:
        kernel = kernel - _dot(weights[1][..., None, :], imaginary[..., :size])
    return Chunk(_toeplitz(kernel[..., 0, :]), read, jnp.swapaxes(inject, -1, -2), *carry_words(poles, size, jump))


def _reversed(table: Array, size: int) -> Array:
    """lambda^(T - 1) .. lambda^0."""
    return table[..., :size][..., ::-1]


def _toeplitz(kernel: Array) -> Array:
    """M[j, r] = K[r - j], 0 for r < j: (..., T) -> (..., T, T), by reshapes alone, so that its transpose is too.

    Rows of K and T zeros, laid end to end and read with one entry fewer a row, are each shifted by one more.
    """
    size = kernel.shape[-1]
    row = jnp.concatenate([kernel, jnp.zeros_like(kernel)], axis=-1)
    tiled = jnp.broadcast_to(row[..., None, :], (*kernel.shape[:-1], size, 2 * size))
    flat = tiled.reshape(*kernel.shape[:-1], 2 * size * size)[..., : size * (2 * size - 1)]
    return flat.reshape(*kernel.shape[:-1], size, 2 * size - 1)[..., :size]


def _turn(chunk: Chunk, state: Array, *, conjugate: bool = False) -> Array:
    """lambda^T h (or its conjugate times h) for states (batch, 2N)."""
    if chunk.jump[1] is None:
        return chunk.jump[0] * state + chunk.rest[0] * state
    sign = -1 if conjugate else 1
    x, y = jnp.split(state, 2, axis=-1)

    def turned(a: Array, b: Array) -> Array:
        return jnp.concatenate([a * x - sign * b * y, a * y + sign * b * x], axis=-1)

    return turned(*chunk.jump) + turned(*chunk.rest)


@jax.custom_vjp
def _chunks(chunk: Chunk, inputs: Array, state: Array) -> tuple[Array, Array]:
    """Outputs (chunks, batch, T) and last state for inputs of that shape."""
    return _chunks_forward(chunk, inputs, state)[0]


def _chunks_forward(chunk: Chunk, inputs: Array, state: Array) -> tuple[tuple[Array, Array], tuple]:
    before, last = _between(chunk, _dot(inputs, chunk.inject), state)
    return (_dot(inputs, chunk.toeplitz) + _dot(before, chunk.read), last), (chunk, inputs, before)


def _between(chunk: Chunk, driven: Array, state: Array, *, reverse: bool = False) -> tuple[Array, Array]:
    """States before each chunk (after it, in reversed time) and the last one; conjugate poles in reversed time."""

    def advance(carry: Array, one: Array) -> tuple[Array, Array]:
        return _turn(chunk, carry, conjugate=reverse) + one, carry

    last, before = jax.lax.scan(advance, state, driven, reverse=reverse)
    return before, last


def _chunks_backward(residuals: tuple, pull: tuple[Array, Array]) -> tuple[Chunk, Array, Array]:
    chunk, inputs, before = residuals
    outputs, last = pull
    adjoint, first = _between(chunk, _dot(outputs, chunk.read.T), last, reverse=True)
    to_inputs = _dot(outputs, chunk.toeplitz.T) + _dot(adjoint, chunk.inject.T)
    u, y, h, g = (one.reshape(-1, one.shape[-1]) for one in (inputs, outputs, before, adjoint))
    if chunk.jump[1] is None:
        to_jump = ((g * h).sum(0), None)
    else:
        (p, q), (a, b) = jnp.split(g, 2, axis=-1), jnp.split(h, 2, axis=-1)
        to_jump = ((p * a + q * b).sum(0), (q * a - p * b).sum(0))
    return Chunk(_dot(u.T, y), _dot(h.T, y), _dot(u.T, g), to_jump, to_jump), to_inputs, first


_chunks.defvjp(_chunks_forward, _chunks_backward)
