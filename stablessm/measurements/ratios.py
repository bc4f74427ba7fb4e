"""Gradient over weight: the number the criterion of StableSSM bounds."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from stablessm.tasks.maps import map_weights

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def gradient_to_weight(gradient: Array, weight: Array) -> Array:
    """Return |g| / |w| elementwise: 0 where g = 0 (at w = 0 too), infinite where only w = 0."""
    ratio = jnp.abs(gradient) / jnp.abs(weight)
    return jnp.where(gradient == 0, jnp.zeros_like(ratio), ratio)


def quantiles(values: Array) -> Array:
    """Return the quantiles `QUANTILES` over the recurrent weights, the last being the maximum, shape (5,)."""
    return jnp.quantile(values, jnp.asarray(QUANTILES, values.dtype), method="nearest")


def ratios_by_layer(parameters: Any, gradient: Any) -> Array:
    """Return the quantiles of gradient over weight of the raw weights of each layer's map, shape (layers, 5).

    Args:
        parameters: what is trained of a network.
        gradient: of the same shape.
    """
    found = []
    for block, slope in zip(parameters.blocks, gradient.blocks, strict=True):
        pairs = zip(map_weights(slope), map_weights(block), strict=True)
        values = [gradient_to_weight(g, w).ravel() for g, w in pairs]
        if values:
            found.append(quantiles(jnp.concatenate(values)))
    return jnp.stack(found) if found else jnp.zeros((0, len(QUANTILES)))
