"""The largest stable rate: an upward scan, then halvings of its first unstable interval, in one loop of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


class Bracket(NamedTuple):
    """Where stability ends.

    Attributes:
        stable: the top of the first run of stable rates, 0 where none is.
        unstable: the unstable rate above it, infinite where none is, the lowest tried where no rate is stable.
        reentry: whether a rate of the scan above the first unstable one is stable again, int8.
    """

    stable: Array
    unstable: Array
    reentry: Array


def bracketed(stable: Callable[[Array], Array], rates: np.ndarray, bisections: int) -> Bracket:
    """Return where stability ends: scanned upward, then halved on the log scale; one compilation of what is tried.

    Rates below the first stable one, too small to learn at, end no run.

    Args:
        stable: rate -> whether it is stable, both scalars.
        rates: of the scan, ascending.
        bisections: halvings.

    Example:
        >>> found = bracketed(lambda rate: rate < 3.0, np.array([1.0, 2.0, 4.0, 8.0]), 20)
        >>> round(float(found.stable), 3), round(float(found.unstable), 3), int(found.reentry)
        (3.0, 3.0, 0)
    """
    scan, dtype = len(rates), jnp.result_type(float)

    def visit(carry: tuple[Array, ...], number: Array) -> tuple[tuple[Array, ...], None]:
        low, high, reentry = carry
        scanning = number < scan
        grid = jnp.asarray(rates, low.dtype)[jnp.minimum(number, scan - 1)]
        between = (low > 0) & jnp.isfinite(high)
        rate = jnp.where(scanning, grid, jnp.where(between, jnp.sqrt(low) * jnp.sqrt(high), grid))
        good = stable(rate)
        unbroken = jnp.isinf(high)
        scanned = (
            jnp.where(good & unbroken, rate, low),
            jnp.where(~good & unbroken & (low > 0), rate, high),  # below the first stable rate nothing ends
            reentry | (good & ~unbroken),
        )
        halved = jnp.where(good & between, rate, low), jnp.where(~good & between, rate, high), reentry
        return jax.tree.map(lambda one, two: jnp.where(scanning, one, two), scanned, halved), None

    start = jnp.zeros((), dtype), jnp.full((), jnp.inf, dtype), jnp.bool_(False)
    (low, high, reentry), _ = jax.lax.scan(visit, start, jnp.arange(scan + bisections))
    return Bracket(low, jnp.where(low > 0, high, jnp.asarray(rates[0], dtype)), reentry.astype(jnp.int8))
