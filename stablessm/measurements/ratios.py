"""Gradient over weight: the number the criterion of StableSSM bounds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from stablessm.tasks.maps import map_layers, map_weights

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


def constants_by_layer(model: Any, gradient: Any) -> Array:
    """Return the quantiles of C = |dLoss/dw| margin^2/|f'| over the raw weights of each layer, shape (layers, 5).

    The last is the least C with which the law |dLoss/dw| <= C |f'|/margin^2 holds for the layer. At one network C is
    one for all maps: the law's right side is the only place where they enter.

    Args:
        model: the network.
        gradient: of its parameters.

    References: Wang and Li, StableSSM (ICML 2024), Theorem 3.4.
    """
    found = []
    for block, slope in zip(model.blocks, gradient.blocks, strict=True):
        values = []
        for layer, g in zip(map_layers(block), map_weights(slope), strict=True):
            map_, constants, w = layer.parameterization, getattr(layer, "constants", {}), layer.weight
            rise = jax.jvp(lambda w, map_=map_, own=constants: map_.eigenvalue(w, **own), (w,), (jnp.ones_like(w),))[1]
            # margin^2 stands with the gradient, so that a scale that overflows gives a small C and not 0
            values.append(gradient_to_weight(g * map_.margin(w, **constants) ** 2, rise).ravel())
        if values:
            found.append(quantiles(jnp.concatenate(values)))
    return jnp.stack(found) if found else jnp.zeros((0, len(QUANTILES)))
