"""Kernels of diagonal recurrences, K_k = Re sum_n w_n lambda_n^k, from two short tables of powers.

With k = q T + r the sum over modes is one real matrix product of a coarse and a fine table,

    K[q T + r] = sum_n Re(w_n lambda_n^(q T)) Re(lambda_n^r) - Im(..) Im(..),

so that L / T + T powers of each pole are computed instead of L, and no array of modes by time ever exists. The weights
go to the coarse table where each channel has poles of its own, and to the fine one where channels share them: then the
coarse table is shared too, and all channels are one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Inexact

from stablessm.engine.fusion import computed_once
from stablessm.engine.length import whole
from stablessm.engine.poles import Poles
from stablessm.engine.powers import power_parts

METHODS = ("auto", "two_level", "direct", "streamed")
# Tables beyond this many bytes are made a block at a time: well above a processor's cache, well below its memory.
TABLE_LIMIT = 2**28
_BLOCK = 2**25
_EXACT = jax.lax.Precision.HIGHEST  # float32 products on every device


def kernel(
    poles: Poles,
    weights: Inexact[Array, "*channels states"],
    length: int,
    *,
    method: str = "auto",
    rematerialise: bool = False,
) -> Float[Array, "*channels {length}"]:
    """Return K_k = Re sum_n w_n lambda_n^k for k < length.

    Args:
        poles: shape (states,), shared by all channels, or (*channels, states).
        weights: w, real or complex; leading axes broadcast with those of the poles.
        length: number of steps, at least 0 (an empty kernel).
        method: "two_level"; "direct", one table of all powers (for short kernels, and as a reference); "streamed", the
            two-level form a block at a time; "auto" streams where the tables exceed `TABLE_LIMIT` bytes.
        rematerialise: recompute the tables in the backward pass instead of keeping them.

    Returns:
        Real kernel, time along the last axis. A pole and its conjugate are two poles: for pairs stored once, double w.

    Raises:
        ValueError: a length that is none, an unknown method, or shapes that do not fit.

    Example:
        >>> kernel(poles(np.log([0.5, 0.25])), jnp.ones(2), 3).tolist()
        [2.0, 0.75, 0.3125]
    """
    if method not in METHODS:
        raise ValueError(f"`method` of a kernel must be one of {', '.join(METHODS)}, but got {method!r}")
    length = whole(length)
    if poles.shape[-1:] != weights.shape[-1:] or not poles.shape:
        raise ValueError(f"`poles` {poles.shape} and `weights` {weights.shape} must share their last axis, the states")
    parts = (weights.real, weights.imag) if jnp.iscomplexobj(weights) else (weights, None)
    if not poles.is_complex:
        parts = (parts[0], None)  # the real part of a real power times w needs Re w alone
    if poles.shape[:-1] == (1,) * (len(poles.shape) - 1):
        channels = jnp.broadcast_shapes(poles.shape[:-1], weights.shape[:-1])
        poles = jax.tree.map(lambda leaf: leaf.reshape(leaf.shape[-1]), poles)
        flat = [None if one is None else one.reshape(-1, poles.shape[0]) for one in parts]
        function = _shared
    else:
        channels = jnp.broadcast_shapes(poles.shape[:-1], weights.shape[:-1])
        shape = (*channels, poles.shape[-1])
        rows = (math.prod(channels), poles.shape[-1])
        poles = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, shape).reshape(rows), poles)
        flat = [None if one is None else jnp.broadcast_to(one, shape).reshape(rows) for one in parts]
        function = _separate
    if length == 0 or 0 in flat[0].shape:
        return jnp.zeros((*channels, length), poles.dtype)

    def compute(poles: Poles, *weights: Array | None) -> Array:
        return function(poles, weights, length, method)

    compute = jax.checkpoint(compute) if rematerialise else compute
    return compute(poles, *flat).reshape(*channels, length)


def chunk(length: int, channels: int = 1) -> int:
    """Return T, the length of the fine table: L / T coarse and T x channels fine entries balance at sqrt(L / channels).

    Args:
        length: of the kernel.
        channels: that share the coarse table.
    """
    balanced = math.sqrt(length / channels)
    return min(length, 16 * max(1, round(balanced / 16)))  # whole vectors, measured best down to 100 steps


def _shared(poles: Poles, weights: tuple[Array, Array | None], length: int, method: str) -> Array:
    """All channels on the same poles: weights (H, N) -> (H, L)."""
    channels, states = weights[0].shape
    fine = length if method == "direct" else chunk(length, channels)
    coarse = -(-length // fine)

    def block(poles: Poles, *weights: Array | None) -> Array:
        left = _stacked(power_parts(poles, fine * np.arange(coarse)), sign=-1)  # (2N, Q), second half negated
        if channels == 1:  # nothing to reorder; stored results rest on this form to the last bit of its gradient
            right = _stacked(_times(weights, power_parts(poles, np.arange(fine))))  # (1, 2N, T)
            product = jnp.einsum("nq,hnr->qhr", left, right, precision=_EXACT)
        else:  # the states first, as in the other table: a product of plain matrices, 1.6 times as fast
            table = jax.tree.map(lambda part: part[:, None], power_parts(poles, np.arange(fine)))
            right = _stacked(_times(jax.tree.map(jnp.transpose, weights), table), axis=0)  # (2N, H, T)
            product = jnp.matmul(left.T, right.reshape(right.shape[0], -1), precision=_EXACT)
            product = product.reshape(coarse, channels, fine)
        return product.transpose(1, 0, 2).reshape(channels, coarse * fine)[:, :length]

    size = (coarse + channels * fine) * 8
    blocks = _blocks(states * size, method)
    if blocks == 1:
        return block(poles, *weights)
    # The states in blocks, added up; each block's tables are made again in the backward pass.
    width = -(-states // blocks)
    whole = -(-states // width)
    fill = whole * width - states

    def fold(leaf: Array) -> Array:
        padded = jnp.pad(leaf, [(0, 0)] * (leaf.ndim - 1) + [(0, fill)])
        return jnp.moveaxis(padded.reshape(*leaf.shape[:-1], whole, width), -2, 0)

    def add(total: Array, part: tuple) -> tuple[Array, None]:
        return total + jax.checkpoint(block)(part[0], *part[1]), None

    start = jnp.zeros((channels, length), poles.dtype)
    return jax.lax.scan(add, start, jax.tree.map(fold, (poles, weights)))[0]


def _separate(poles: Poles, weights: tuple[Array, Array | None], length: int, method: str) -> Array:
    """Each channel with poles of its own: (H, N) -> (H, L), a product for each channel."""
    channels, states = poles.shape
    fine = length if method == "direct" else chunk(length)
    coarse = -(-length // fine)

    def block(poles: Poles, *weights: Array | None) -> Array:
        left = _stacked(_times(weights, power_parts(poles, fine * np.arange(coarse))[:2]), sign=-1)
        right = _stacked(power_parts(poles, np.arange(fine)))
        product = jnp.einsum("...nq,...nr->...qr", left, right, precision=_EXACT)
        return product.reshape(*product.shape[:-2], coarse * fine)[..., :length]

    size = (coarse + fine) * states * 8
    if _blocks(channels * size, method) == 1:
        poles, weights = jax.tree.map(computed_once, (poles, weights))
        return block(poles, *weights)
    function: Callable = jax.checkpoint(lambda part: block(part[0], *part[1]))
    return jax.lax.map(function, (poles, weights), batch_size=max(1, min(channels, _BLOCK // size)))


def _blocks(size: int, method: str) -> int:
    """Number of blocks for tables of so many bytes."""
    if method == "streamed" or (method == "auto" and size > TABLE_LIMIT):
        return max(2 if method == "streamed" else 1, -(-size // _BLOCK))
    return 1


def _stacked(parts: tuple[Array, Array | None], sign: int = 1, axis: int = -2) -> Array:
    """Real and imaginary table below each other along the axis of the states."""
    real, imaginary = parts
    return real if imaginary is None else jnp.concatenate([real, sign * imaginary], axis=axis)


def _times(weights: tuple[Array, Array | None], table: tuple[Array, Array | None]) -> tuple[Array, Array | None]:
    """w z, entry by entry: weights (..., N), table (N, T) or (..., N, T)."""
    real, imaginary = (None if one is None else one[..., None] for one in weights)
    if table[1] is None:
        return real * table[0], None
    if imaginary is None:
        return real * table[0], real * table[1]
    return real * table[0] - imaginary * table[1], real * table[1] + imaginary * table[0]
