"""How far two linear functionals are apart: the W^{1,inf} distance of their kernels and offsets.

With y_k = z_k + sum_{j <= k} K_j x_{k-j}, d = K - K' and e = z - z', the output and its increment over a step of dt
differ by at most

    sum_k |d_k| + (|d_0| + sum_k |d_k - d_{k-1}|) / dt        for the worst input of |x| <= 1 (attained), and
    max_k |e_k| + max_k |e_k - e_{k-1}| / dt                  without input;

the distance is the sum of the four. In continuous time the first line is int |rho - rho'| + |(rho - rho')(0)| +
int |(rho - rho')'|. The convolution carries no dt.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float


def sobolev_distance(
    difference: Float[Array, " time"],
    offset: Float[Array, " time"],
    horizons: Sequence[int],
    *,
    step_size: float = 1.0,
) -> Float[Array, " horizons"]:
    """Return the W^{1,inf} distance of two functionals over each horizon.

    Args:
        difference: d_k, the difference of the kernels.
        offset: e_k, the difference of the responses to no input.
        horizons: numbers of steps, each at least 1 and at most the length of both.
        step_size: dt.

    Example:
        >>> sobolev_distance(jnp.asarray([1.0, 0.5]), jnp.zeros(2), (1, 2)).tolist()
        [2.0, 3.0]

    References: Wang and Li, StableSSM (ICML 2024), section 3.
    """
    size, rise = jnp.abs(difference), _rise(difference) / step_size
    still, drift = jnp.abs(offset), _rise(offset) / step_size
    return jnp.stack([(size + rise)[:one].sum() + still[:one].max() + drift[:one].max() for one in horizons])


def _rise(values: Float[Array, " time"]) -> Float[Array, " time"]:
    return jnp.abs(jnp.diff(values, prepend=jnp.zeros(1, values.dtype)))
