"""The largest eigenvalue of the Hessian of a loss by Lanczos, without the Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import eigh_tridiagonal
from matfree import decomp

PyTree = Any


def largest_curvature(
    loss: Callable[[PyTree], Array], parameters: PyTree, *, scales: PyTree | None = None, products: int = 24, key: Array
) -> Array:
    """Return the largest eigenvalue of D^(1/2) H D^(1/2) on the range of D, H the Hessian of a loss and D a diagonal.

    Lanczos with full reorthogonalisation (matfree); each product with H is one derivative along a direction of the
    gradient. Its value never lies above the eigenvalue, and in exact arithmetic is the eigenvalue once there are as
    many products as parameters. Infinite where a curvature is not finite.

    Args:
        loss: parameters -> scalar.
        parameters: where; pytree of arrays.
        scales: D, a pytree of non-negative arrays like the parameters: the learning rate of each over a common one, or
            0 and 1 for a block of H. All 1 by default.
        products: products with the Hessian; no more than there are parameters are made.
        key: PRNG key of the first direction.

    Example:
        >>> round(float(largest_curvature(lambda w: (w**4).sum(), jnp.arange(3.0), key=jax.random.key(0))), 3)
        48.0
    """
    flat, unravel = ravel_pytree(parameters)
    roots = jnp.ones_like(flat) if scales is None else jnp.sqrt(ravel_pytree(scales)[0])
    gradient = jax.grad(lambda vector: loss(unravel(vector)))

    def product(vector: Array) -> Array:
        return roots * jax.jvp(gradient, (flat,), (roots * vector,))[1]

    decompose = decomp.hessenberg(min(products, flat.size), reortho="full", custom_vjp=False)  # symmetric: tridiagonal
    first = jnp.where(roots > 0, jax.random.normal(key, flat.shape, flat.dtype), 0)
    projected = decompose(product, first / jnp.linalg.norm(first)).J_small
    diagonal, beside = jnp.diagonal(projected), jnp.diagonal(projected, -1)
    # Where a residual is lost in rounding the space is exhausted, and what Lanczos makes after that means nothing. The
    # eigenvalue of what is left is off by that residual at most.
    residual = jnp.where(jnp.isnan(beside), 0, jnp.abs(beside))
    known = jnp.cumprod(residual > 100 * jnp.finfo(flat.dtype).eps * jnp.abs(diagonal[0])).astype(bool)
    diagonal = diagonal.at[1:].set(jnp.where(known, diagonal[1:], diagonal[0]))
    beside = jnp.where(known, beside, 0)
    last = diagonal.size - 1  # by bisection, which needs no LAPACK inside of the compiled program
    largest = eigh_tridiagonal(diagonal, beside, eigvals_only=True, select="i", select_range=(last, last))[0]
    return jnp.where(jnp.isfinite(largest), largest, jnp.inf)
