"""A bank of poles that grow so fast that lambda^T is beyond the floats, T steps being a chunk: step by step.

Chunks read outputs and states out of tables of powers. Where a power is infinite, infinity times an input of zero, or
infinity minus infinity, is not a number, although the true output may be finite: a pole may be as large as it likes as
long as nothing has driven it. So the tables are asked first, when the program runs; poles that decay, or grow by less
than e^88 in a chunk (float32), never come here.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.engine.poles import Poles
from stablessm.engine.powers import power_parts

Bank = tuple[Poles, tuple[Array, Array | None], Array, Array]


@jax.custom_batching.custom_vmap
def _any(overflows: Array) -> Array:
    return overflows.any()


@_any.def_vmap
def _(size: int, batched: list[bool], overflows: Array) -> tuple[Array, bool]:
    return _any(overflows), False  # one answer for all of a batch, so that only one branch is run


def overflows(poles: Poles, exponent: int) -> Array:
    """Whether some finite |lambda|^k is beyond the floats, as one scalar, under `vmap` too."""
    growth = jax.lax.stop_gradient(poles.log_modulus) * exponent
    limit = math.log(float(jnp.finfo(poles.dtype).max)) - 1  # a sum of two such parts must be finite too
    return _any((growth > limit) & (growth < jnp.inf))


def by_steps(bank: Bank, size: int) -> tuple[Array, Array]:
    """Run a bank step by step; of the states, only those between chunks are kept for the backward pass.

    Args:
        bank: poles and weights of shape (channels, states), inputs (batch, channels, time), state (batch, channels, 2N
            or N), as `chunked.run_bank` takes them.
        size: T.

    Returns:
        (outputs, state), of the shapes of inputs and state.
    """
    poles, (w, v), inputs, state = bank
    length = inputs.shape[-1]
    a, b = power_parts(poles, np.array(1))

    def step(carry: Array, u: Array) -> tuple[Array, Array]:
        x, y = (carry, None) if b is None else jnp.split(carry, 2, axis=-1)
        if b is None:
            x = a * x + u[..., None]
            return x, (w * x).sum(-1)
        x, y = a * x - b * y + u[..., None], a * y + b * x
        return jnp.concatenate([x, y], axis=-1), (w * x).sum(-1) - (0 if v is None else (v * y).sum(-1))

    @jax.checkpoint
    def chunk(carry: Array, some: Array) -> tuple[Array, Array]:
        return jax.lax.scan(step, carry, some)

    series = jnp.moveaxis(inputs, -1, 0)
    whole = length // size
    first = series[: whole * size].reshape(whole, size, *series.shape[1:])
    state, outputs = jax.lax.scan(chunk, state, first)
    state, rest = chunk(state, series[whole * size :])
    outputs = jnp.concatenate([outputs.reshape(whole * size, *series.shape[1:]), rest])
    return jnp.moveaxis(outputs, 0, -1), state
