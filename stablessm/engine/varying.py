"""The recurrence whose multiplier changes from step to step, h_k = a_k h_{k-1} + B u_k: decays that follow an input.

There is no kernel, so that states are computed one after the other, or by a parallel scan. With the cotangents g_k of
the states, the backward pass is the same recurrence in reversed time, driven by them:

    p_k = conj(a_{k+1}) p_{k+1} + g_k,    to u_k goes p_k,    to a_k goes p_k conj(h_{k-1}),    to h_{-1} conj(a_0) p_0.

It keeps multipliers and states, one number a state and step each, and nothing of the scan; only products of multipliers
of neighbouring steps occur, and no quotient, so that a multiplier may be 0, negative or beyond 1.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Inexact, Integer

from stablessm.engine.choice import choose_recurrence
from stablessm.engine.parts import Parts, each, ended, joined_parts, outputs_of, parts_of, product, time_first

VARYING_METHODS = ("auto", "scan", "associative")


def recur_varying(
    multipliers: Inexact[Array, "*batch time states"],
    inputs: Inexact[Array, "*batch time inputs"],
    state: Inexact[Array, "*batch states"] | None = None,
    *,
    method: str = "auto",
    lengths: Integer[Array, "*batch"] | None = None,
    drive: Inexact[Array, "states inputs"] | None = None,
    readout: Inexact[Array, "outputs states"] | None = None,
) -> tuple[Array, Array]:
    """Run h_k = a_k h_{k-1} + B u_k and return what is read from every state, and the last state.

    A multiplier is what it is in its dtype: of a float32 one next to 1 the distance from 1 is known to 2^-25 at best.

    Args:
        multipliers: a, real or complex, for each step and state.
        inputs: u; without `drive` one for each state, or a single one that drives all.
        state: h before the first step; zero by default.
        method: "scan", a loop over time; "associative", `jax.lax.associative_scan`; "auto" asks `choose`.
        lengths: how many steps of each series count: the returned state is that after so many, outputs beyond are 0.
        drive: B; without it the inputs act on the states directly.
        readout: C; without it the outputs are the states themselves.

    Returns:
        (outputs, state). Outputs: Re C h_k of shape (*batch, time, outputs), or h_k of shape (*batch, time, states) and
        complex where anything is. Going on from the returned state equals one pass. No step returns it as it was.

    Raises:
        ValueError: an unknown method, or shapes that do not fit.

    Example:
        >>> recur_varying(jnp.array([[0.5], [0.5], [0.0]]), jnp.array([[1.0], [0.0], [3.0]]))[0][:, 0].tolist()
        [1.0, 0.5, 3.0]
    """
    if method not in VARYING_METHODS:
        raise ValueError(
            f"`method` of a varying recurrence must be one of {', '.join(VARYING_METHODS)}, but got {method!r}"
        )
    length, states = multipliers.shape[-2:]
    if inputs.shape[-2] != length:
        raise ValueError(f"`multipliers` are of {length} steps, but `inputs` of {inputs.shape[-2]}")
    if drive is None and inputs.shape[-1] not in (1, states):
        raise ValueError(f"the last axis of `inputs` must have {states} states, or 1, but got {inputs.shape}")
    batch = jnp.broadcast_shapes(multipliers.shape[:-2], inputs.shape[:-2], () if state is None else state.shape[:-1])
    is_complex = any(jnp.iscomplexobj(one) for one in (multipliers, inputs, state, drive) if one is not None)
    dtype = jnp.result_type(*(one for one in (multipliers, inputs, state, drive) if one is not None))
    start = jnp.zeros((*batch, states), dtype) if state is None else jnp.broadcast_to(state, (*batch, states))
    factors = time_first(jnp.broadcast_to(multipliers, (*batch, length, states)), jnp.iscomplexobj(multipliers))
    driven = time_first(product(inputs, drive), is_complex)
    driven = each(lambda part: jnp.broadcast_to(part, (length, *batch, states)), driven)
    if method == "auto":
        method = choose_recurrence(states, length)
    begun = parts_of(start, is_complex)
    history = _history(*factors, *driven, *begun, method) if length else driven
    count = None if lengths is None else jnp.broadcast_to(jnp.asarray(lengths), batch)
    return outputs_of(history, readout, count), ended(history, begun, count)


@partial(jax.custom_vjp, nondiff_argnums=(6,))
def _history(
    a: Array, b: Array | None, u: Array, v: Array | None, x: Array, y: Array | None, method: str
) -> tuple[Array, Array | None]:
    """h_k = (a + ib)_k h_{k-1} + (u + iv)_k from h = x + iy, along the leading axis."""
    run = _associative if method == "associative" else _loop
    return run((a, b), (u, v), (x, y), False)


def _forward(*args: Array | None) -> tuple[Parts, tuple]:
    history = _history(*args)
    return history, (args[0], args[1], args[4], args[5], history)


def _backward(method: str, residuals: tuple, pull: Parts) -> tuple[Array | None, ...]:
    a, b, x, y, history = residuals
    run = _associative if method == "associative" else _loop
    start = None if y is None else jnp.zeros_like(y)
    after = a, None if b is None else -b
    later = each(lambda part: jnp.concatenate([part[1:], jnp.zeros_like(part[:1])]), after)
    p, q = run(later, pull, (jnp.zeros_like(x), start), True)
    real, imaginary = (None if h is None else jnp.concatenate([s[None], h[:-1]])
                       for s, h in zip((x, y), history, strict=True))  # fmt: skip
    if y is None:
        return p * real, None, p, None, a[0] * p[0], None
    slope = p * real + q * imaginary
    if b is None:
        return slope, None, p, q, a[0] * p[0], a[0] * q[0]
    return slope, q * real - p * imaginary, p, q, a[0] * p[0] + b[0] * q[0], a[0] * q[0] - b[0] * p[0]


_history.defvjp(_forward, _backward)


def _loop(factors: Parts, driven: Parts, start: Parts, reverse: bool) -> Parts:
    """A step after the other, along the leading axis or against it."""

    def advance(carry: Parts, one: tuple[Parts, Parts]) -> tuple[Parts, Parts]:
        (real, imaginary), ((a, b), (u, v)) = carry, one
        if b is None:
            new = (a * real + u, None if imaginary is None else a * imaginary + v)
        else:
            new = (a * real - b * imaginary + u, a * imaginary + b * real + v)
        return new, new

    return jax.lax.scan(advance, start, (factors, driven), reverse=reverse)[1]


def _associative(factors: Parts, driven: Parts, start: Parts, reverse: bool) -> Parts:
    """A parallel scan over pairs (multiplier, input), the start being the input of a step before the first."""
    multipliers, inputs, first = (joined_parts(one) for one in (factors, driven, start))
    end = -1 if reverse else 0
    inputs = inputs.at[end].add(multipliers[end] * first)

    def combine(one: tuple[Array, Array], two: tuple[Array, Array]) -> tuple[Array, Array]:
        return two[0] * one[0], two[0] * one[1] + two[1]

    history = jax.lax.associative_scan(combine, (multipliers, inputs), reverse=reverse)[1]
    return parts_of(history, driven[1] is not None)
