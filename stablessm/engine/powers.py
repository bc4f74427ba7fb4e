"""Powers lambda^k of poles, right to a few rounding errors at any k, with derivatives that cost two products.

d z = k z (d log|lambda| + i d theta) for z = lambda^k: the derivative needs the table itself and nothing else, so the
table is the only residual, and no transcendental function is evaluated twice.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Integer

from stablessm.engine.poles import Poles
from stablessm.engine.turns import Turns, cosine_sine, multiple

_FULL_TURN = 2 * np.pi
_SMALLEST_LOG = -1e4  # e^-10000 is zero in every float, and finite times 2^24 steps, so that 0 times it is 0


def powers(poles: Poles, exponents: Integer[Array, "*exponents"] | np.ndarray) -> Array:
    """Return lambda^k, shape (*poles.shape, *exponents.shape): complex where the poles have a phase, else real.

    Error at most 5e-7 up to k = 10^6 in float32 where |lambda| <= 1. Where |lambda| > 1 the power overflows to
    infinity (see `first_bad_step`).

    Args:
        poles: the eigenvalues of one step.
        exponents: k, integers from 0 to 2^24 (float32).

    Raises:
        ValueError: an exponent that is known to be negative.

    Example:
        >>> powers(poles(np.log(0.5)), np.arange(3)).tolist()
        [1.0, 0.5, 0.25]
    """
    real, imaginary = power_parts(poles, exponents)
    return real if imaginary is None else jax.lax.complex(real, imaginary)


def power_parts(poles: Poles, exponents: Integer[Array, "*exponents"] | np.ndarray) -> tuple[Array, Array | None]:
    """Return real and imaginary part of lambda^k as two real tables; the second is None for real poles."""
    exponents = np.asarray(exponents) if isinstance(exponents, int | range | list) else exponents
    if isinstance(exponents, np.ndarray) and exponents.size and exponents.min() < 0:
        raise ValueError(f"`exponents` must not be negative, but got {exponents.min()}")
    steps = exponents.astype(np.int32)
    if poles.value is not None:
        radius = _signed(poles.value, poles.log_modulus, steps)
        if poles.turns is None:
            return radius, None
        real, imaginary = _spiral(jnp.zeros_like(poles.log_modulus), poles.turns, steps)
        return _scaled(radius, real), _scaled(radius, imaginary)
    if poles.turns is None:
        return _growth(poles.log_modulus, steps), None
    return _spiral(poles.log_modulus, poles.turns, steps)


def first_bad_step(values: Array) -> Array:
    """Return the first index along the last axis whose value is not finite, -1 where all are.

    Args:
        values: powers, a kernel or outputs, shape (..., time).
    """
    bad = ~jnp.isfinite(values)
    if values.shape[-1] == 0:
        return jnp.full(values.shape[:-1], -1, jnp.int32)
    return jnp.where(bad.any(-1), jnp.argmax(bad, axis=-1), -1).astype(jnp.int32)


def _spread(array: Array, exponents: Any) -> Array:
    return jnp.expand_dims(array, tuple(range(-np.ndim(exponents), 0)))


def _exponential(log_modulus: Array, exponents: Any) -> Array:
    finite = jnp.maximum(log_modulus, _SMALLEST_LOG)
    return jnp.exp(_spread(finite, exponents) * jnp.asarray(exponents).astype(log_modulus.dtype))


def _scaled(radius: Array, unit: Array) -> Array:
    return jnp.where(unit == 0, jnp.zeros_like(unit), radius * unit)  # an overflowed radius times 0 is 0


def _steps(exponents: Any, dtype: Any) -> Array:
    return jnp.asarray(exponents).astype(dtype)


@jax.custom_jvp
def _growth(log_modulus: Array, exponents: Any) -> Array:
    return _exponential(log_modulus, exponents)


def _growth_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    table = _growth(*primals)
    return table, table * _steps(primals[1], table.dtype) * _spread(tangents[0], primals[1])


_growth.defjvp(_growth_jvp)


@jax.custom_jvp
def _spiral(log_modulus: Array, phase: Turns, exponents: Any) -> tuple[Array, Array]:
    radius = _exponential(log_modulus, exponents)
    cosine, sine = cosine_sine(*multiple(phase, exponents))
    return _scaled(radius, cosine), _scaled(radius, sine)


def _spiral_jvp(primals: tuple, tangents: tuple) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    real, imaginary = _spiral(*primals)
    growth, words, _ = tangents
    moving = [word for word in words if not isinstance(word, SymbolicZero)]
    steps = _steps(primals[2], real.dtype)
    along = steps * real, steps * imaginary  # before the tangent: a power of 0 stays 0 against any derivative
    changes = jnp.zeros_like(real), jnp.zeros_like(real)
    if not isinstance(growth, SymbolicZero):
        rate = _spread(growth, primals[2])
        changes = along[0] * rate, along[1] * rate
    if moving:
        rate = _spread(_FULL_TURN * sum(moving), primals[2])
        changes = changes[0] - along[1] * rate, changes[1] + along[0] * rate
    return (real, imaginary), changes


_spiral.defjvp(_spiral_jvp, symbolic_zeros=True)


@jax.custom_jvp
def _signed(value: Array, log_modulus: Array, exponents: Any) -> Array:
    """value^k = sign^k exp(k log|value|)."""
    odd = (jnp.asarray(exponents) & 1) != 0
    table = _exponential(log_modulus, exponents)
    return jnp.where((_spread(value, exponents) < 0) & odd, -table, table)


def _signed_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    value, log_modulus, exponents = primals
    table = _signed(value, log_modulus, exponents)
    before = _signed(value, log_modulus, jnp.maximum(jnp.asarray(exponents) - 1, 0))
    return table, before * _steps(exponents, table.dtype) * _spread(tangents[0], exponents)


_signed.defjvp(_signed_jvp)
