"""The recurrence h_k = lambda h_{k-1} + B u_k, y_k = Re C h_k, step by step, where states or matrices are wanted.

Real and imaginary parts run as two real arrays (complex multiplication inside a loop is not vectorised by XLA on CPUs),
and the products with B and C are taken out of the loop. The backward pass is the same recurrence in reversed time with
the conjugate poles: it needs the states and nothing else.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Inexact, Integer

from stablessm.engine.choice import choose_recurrence
from stablessm.engine.parts import Parts, each, ended, joined_parts, outputs_of, parts_of, product, time_first
from stablessm.engine.poles import Poles
from stablessm.engine.powers import power_parts, powers

METHODS = ("auto", "scan", "chunked", "associative")


def recur(
    poles: Poles,
    inputs: Inexact[Array, "*batch time inputs"],
    state: Inexact[Array, "*batch states"] | None = None,
    *,
    method: str = "auto",
    lengths: Integer[Array, "*batch"] | None = None,
    drive: Inexact[Array, "states inputs"] | None = None,
    readout: Inexact[Array, "outputs states"] | None = None,
) -> tuple[Array, Array]:
    """Run h_k = lambda h_{k-1} + B u_k and return what is read from every state, and the last state.

    Args:
        poles: shape (states,), or () for a single mode without an axis of states.
        inputs: time along the last axis but one; the last one is that of the states, or of size 1 where all states are
            driven alike, or of the inputs of `drive`. A single series may be given as (time,).
        state: h before the first step; zero by default. Leading axes as those of the inputs.
        method: "scan", a loop over time; "chunked", a loop over the steps within chunks and one over chunks, for short
            loops; "associative", `jax.lax.associative_scan`; "auto" asks `choose`.
        lengths: how many steps of each series count: the returned state is that after so many, outputs beyond are 0.
        drive: B; without it the inputs act on the states directly.
        readout: C; without it the outputs are the states themselves.

    Returns:
        (outputs, state). Outputs: Re C h_k of shape (*batch, time, outputs), or h_k of shape (*batch, time, states) and
        complex where the poles are. Going on from the returned state equals one pass. No step returns it as it was.

    Raises:
        ValueError: an unknown method, or shapes that do not fit.

    Example:
        >>> recur(poles(np.log([0.5])), jnp.array([1.0, 0.0, 0.0]))[0][:, 0].tolist()
        [1.0, 0.5, 0.25]
    """
    if method not in METHODS:
        raise ValueError(f"`method` of a recurrence must be one of {', '.join(METHODS)}, but got {method!r}")
    if poles.shape == ():
        poles = jax.tree.map(lambda leaf: leaf[None], poles)
        state = None if state is None else jnp.asarray(state)[..., None]
        outputs, state = recur(poles, inputs[..., None], state, method=method, lengths=lengths, readout=readout)
        return outputs[..., 0], state[..., 0]
    inputs = inputs[:, None] if inputs.ndim == 1 else inputs
    (states,) = poles.shape
    if drive is None and inputs.shape[-1] not in (1, states):
        raise ValueError(f"the last axis of `inputs` must have {states} states, or 1, but got {inputs.shape}")
    batch, length = inputs.shape[:-2], inputs.shape[-2]
    is_complex = poles.is_complex or any(jnp.iscomplexobj(one) for one in (inputs, state, drive) if one is not None)
    driven = time_first(product(inputs, drive), is_complex)
    driven = each(lambda part: jnp.broadcast_to(part, (length, *batch, states)), driven)
    start = jnp.zeros((*batch, states), poles.dtype) if state is None else state
    start = each(lambda part: jnp.broadcast_to(part, (*batch, states)), parts_of(start, is_complex))
    if method == "auto":
        method = choose_recurrence(states, length)
    if length == 0:
        history = driven
    elif method == "associative":
        history = _associative(poles, driven, start)
    elif method == "chunked":
        history = _chunked(poles, driven, start)
    else:
        history = _scan(power_parts(poles, np.array(1)), driven, start, False)
    count = None if lengths is None else jnp.broadcast_to(jnp.asarray(lengths), batch)
    return outputs_of(history, readout, count), ended(history, start, count)


def _scan(multiplier: Parts, driven: Parts, start: Parts, reverse: bool) -> Parts:
    """The loop over the leading axis; see `_loop` for what is looped."""
    return _loop(*multiplier, *driven, *start, reverse)


@partial(jax.custom_vjp, nondiff_argnums=(6,))
def _loop(
    a: Array, b: Array | None, u: Array, v: Array | None, x: Array, y: Array | None, reverse: bool
) -> tuple[Array, Array | None]:
    """h_k = (a + ib) h_{k-1} + (u + iv)_k from h = x + iy, along the leading axis or against it."""

    def advance(carry: Parts, one: Parts) -> tuple[Parts, Parts]:
        (real, imaginary), (u, v) = carry, one
        if b is None:
            new = (a * real + u, None if imaginary is None else a * imaginary + v)
        else:
            new = (a * real - b * imaginary + u, a * imaginary + b * real + v)
        return new, new

    return jax.lax.scan(advance, (x, y), (u, v), reverse=reverse)[1]


def _loop_forward(*args: Array | None) -> tuple[Parts, tuple]:
    a, b, _, _, x, y, _ = args
    history = _loop(*args)
    return history, (a, b, x, y, history)


def _loop_backward(reverse: bool, residuals: tuple, pull: Parts) -> tuple[Array | None, ...]:
    a, b, x, y, (real, imaginary) = residuals
    zero = jnp.zeros_like(x)
    back = None if b is None else -b
    p, q = _loop(a, back, *pull, zero, None if y is None else zero, not reverse)

    def before(first: Array, history: Array) -> Array:
        parts = [history[1:], first[None]] if reverse else [first[None], history[:-1]]
        return jnp.concatenate(parts)

    real = before(x, real)
    end = -1 if reverse else 0
    if y is None:
        return _summed(p * real, a), None, p, None, a * p[end], None
    imaginary = before(y, imaginary)
    slope_a = _summed(p * real + q * imaginary, a)
    if b is None:
        return slope_a, None, p, q, a * p[end], a * q[end]
    slope_b = _summed(q * real - p * imaginary, b)
    return slope_a, slope_b, p, q, a * p[end] + b * q[end], a * q[end] - b * p[end]


_loop.defvjp(_loop_forward, _loop_backward)


def _associative(poles: Poles, driven: Parts, start: Parts) -> Parts:
    """A parallel scan over complex pairs (multiplier, input); the state enters as input before the first step."""
    step = powers(poles, np.array(1))
    inputs = jnp.concatenate([joined_parts(start)[None], joined_parts(driven)])
    multiplier = jnp.broadcast_to(step, inputs.shape).astype(jnp.result_type(step, inputs))

    def combine(one: Parts, two: Parts) -> Parts:
        return one[0] * two[0], two[0] * one[1] + two[1]

    history = jax.lax.associative_scan(combine, (multiplier, inputs))[1][1:]
    return parts_of(history, driven[1] is not None)


def _chunked(poles: Poles, driven: Parts, start: Parts) -> Parts:
    """About 2 sqrt(L) loop steps instead of L: all chunks side by side from zero, then the states between them.

    Inside a chunk h_{q T + r} = local_{q, r} + lambda^(r + 1) h at its start; the exact power, not r + 1 products.
    """
    length = driven[0].shape[0]
    inner = max(1, round(math.sqrt(length)))
    outer = -(-length // inner)

    def fold(part: Array) -> Array:
        padded = jnp.pad(part, [(0, outer * inner - length)] + [(0, 0)] * (part.ndim - 1))
        return jnp.moveaxis(padded.reshape(outer, inner, *part.shape[1:]), 1, 0)  # (T, Q, ...)

    folded = each(fold, driven)
    zero = each(lambda part: jnp.zeros_like(part[0]), folded)
    local = _scan(power_parts(poles, np.array(1)), folded, zero, False)
    jump = power_parts(poles, np.array(inner))
    ends = each(lambda part: part[-1], local)
    between = _scan(jump, ends, start, False)
    before = tuple(None if s is None else jnp.concatenate([s[None], b[:-1]])
                   for s, b in zip(start, between, strict=True))  # fmt: skip
    spread = (inner, *[1] * (driven[0].ndim - 1), -1)
    real, imaginary = (None if one is None else one.T.reshape(spread)
                       for one in power_parts(poles, 1 + np.arange(inner)))  # fmt: skip
    if imaginary is None:
        history = tuple(None if h is None else h + real * b for h, b in zip(local, before, strict=True))
    else:
        history = (
            local[0] + real * before[0] - imaginary * before[1],
            local[1] + real * before[1] + imaginary * before[0],
        )
    return each(lambda part: jnp.moveaxis(part, 0, 1).reshape(-1, *part.shape[2:])[:length], history)


def _summed(product: Array, like: Array) -> Array:
    return product.sum(tuple(range(product.ndim - like.ndim)))
