"""Poles: the eigenvalues of one step, kept as log modulus and phase and never as a rounded complex number."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm.engine.turns import Turns, added, host_turns, turns


class Poles(NamedTuple):
    """Eigenvalues lambda of one step of a recurrence, as a pytree of real arrays of one shape.

    Attributes:
        log_modulus: log|lambda|; minus infinity where lambda = 0.
        turns: the phase in turns, split into three words; None for real eigenvalues.
        value: lambda itself (its signed modulus where there is a phase too), where a real factor may be zero or
            negative and gradients are taken with respect to it; None otherwise.
    """

    log_modulus: Array
    turns: Turns | None = None
    value: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the eigenvalues."""
        return self.log_modulus.shape

    @property
    def dtype(self) -> Any:
        """Real dtype they are computed in."""
        return self.log_modulus.dtype

    @property
    def is_complex(self) -> bool:
        """Whether they have a phase."""
        return self.turns is not None


def poles(log_modulus: ArrayLike, phase: ArrayLike | None = None) -> Poles:
    r"""Return the poles lambda = exp(log_modulus + i phase).

    NumPy arrays and Python numbers are split on the host in float64: with the phase in float64, lambda^k is right to
    1e-6 up to k = 10^6 in float32 arithmetic. JAX arrays are split in their own dtype, exactly as they are: a phase
    that was rounded to float32 (relative 6e-8) is another phase, and lambda^k that of the rounded one.

    Args:
        log_modulus: log|lambda| per step, any shape; -inf for lambda = 0.
        phase: argument of lambda in radians per step, of a shape that broadcasts; None for real, positive lambda.

    Returns:
        `Poles` in float32, or in float64 where JAX is set to it and the input is.

    Example:
        >>> half_turn = poles(0.0, np.pi)
        >>> powers(half_turn, np.array([0, 1, 2])).real.tolist()
        [1.0, -1.0, 1.0]
    """
    dtype = _dtype(log_modulus, phase)
    log_modulus = jnp.asarray(log_modulus, dtype)
    if phase is None:
        return Poles(log_modulus)
    words = turns(phase.astype(dtype)) if isinstance(phase, jax.Array) else host_turns(np.asarray(phase), dtype)
    shape = jnp.broadcast_shapes(log_modulus.shape, words.first.shape)
    spread = [jnp.broadcast_to(jnp.asarray(word), shape) for word in words]
    return Poles(jnp.broadcast_to(log_modulus, shape), Turns(*spread))


def signed_poles(value: ArrayLike, *, log_modulus: ArrayLike | None = None, phase: ArrayLike | None = None) -> Poles:
    """Return poles with a real factor that may be zero or negative, differentiable there.

    d lambda^k / d lambda = k lambda^(k - 1) is finite at lambda = 0, where the derivative of log|lambda| is not. The
    gradient goes to `value` alone; `log_modulus` only says more precisely than a rounded lambda how long it remembers.

    Args:
        value: lambda, or its signed modulus where a phase is given.
        log_modulus: log|value|, where it is known better than from `value`.
        phase: as for `poles`.
    """
    dtype = _dtype(value, log_modulus)
    value = jnp.asarray(value, dtype)
    known = jnp.log(jnp.abs(value)) if log_modulus is None else jnp.asarray(log_modulus, dtype)
    rotation = None if phase is None else poles(jnp.zeros_like(value), phase).turns
    return Poles(jax.lax.stop_gradient(known), rotation, value)


def product(one: Poles, other: Poles) -> Poles:
    """Return the poles lambda mu, broadcast: phases are added word by word, so that nothing of either is rounded away.

    Args:
        one: lambda.
        other: mu, of a shape that broadcasts with that of lambda.

    Example:
        >>> quarter = poles(0.0, np.pi / 2)
        >>> powers(product(quarter, quarter), np.array([1])).real.tolist()
        [-1.0]
    """
    log_modulus = one.log_modulus + other.log_modulus
    if one.turns is None or other.turns is None:
        rotation = one.turns if other.turns is None else other.turns
        rotation = None if rotation is None else Turns(*(jnp.broadcast_to(w, log_modulus.shape) for w in rotation))
    else:
        rotation = added(one.turns, other.turns)
    if one.value is None and other.value is None:
        return Poles(log_modulus, rotation)
    values = [jnp.exp(each.log_modulus) if each.value is None else each.value for each in (one, other)]
    return Poles(jax.lax.stop_gradient(log_modulus), rotation, values[0] * values[1])


def _dtype(*arrays: ArrayLike | None) -> Any:
    """float64 where JAX computes in it and an input is of it, else float32."""
    wide = jax.dtypes.canonicalize_dtype(np.float64)
    given = [getattr(one, "dtype", np.dtype(np.float64)) for one in arrays if one is not None]
    return wide if any(one == np.float64 for one in given) else np.dtype(np.float32)
