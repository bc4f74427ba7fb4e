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
    """Return lambda^k by repeated doubling [P, P lambda^n]: right for zero and negative eigenvalues, gradients too.

    Args:
        eigenvalue: lambda, of either sign, or complex.
        length: number of powers.
    """
    table, factor = jnp.ones((*eigenvalue.shape, 1), eigenvalue.dtype), eigenvalue[:, None]
    while table.shape[-1] < length:
        table = jnp.concatenate([table, table * factor], axis=-1)
        factor = factor * factor
    return table[:, :length]
