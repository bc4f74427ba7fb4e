"""Tables of powers lambda^k, k = 0 .. length - 1."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Inexact


def power_table_from_log(log_modulus: Float[Array, " states"], length: int) -> Float[Array, "states length"]:
    """Return exp(k log|lambda|): exact to rounding wherever the power is not negligible.

    Args:
        log_modulus: log|lambda| per step.
        length: number of powers.
    """
    return jnp.exp(log_modulus[:, None] * jnp.arange(length, dtype=log_modulus.dtype))


def power_table_by_doubling(eigenvalue: Inexact[Array, " states"], length: int) -> Inexact[Array, "states length"]:
    """Return lambda^k as products of lambda, lambda^2, lambda^4, ...: right for zero and negative eigenvalues.

    The gradients are right there too. Each power is chosen by the bits of k, so that the whole table is one elementwise
    program.

    Args:
        eigenvalue: lambda, of either sign, or complex.
        length: number of powers.
    """
    exponent, factor = jnp.arange(length), eigenvalue[:, None]
    table = jnp.ones((*eigenvalue.shape, length), eigenvalue.dtype)
    for bit in range(max(length - 1, 0).bit_length()):
        table = table * jnp.where((exponent >> bit) & 1, factor, 1)
        factor = factor * factor
    return table
