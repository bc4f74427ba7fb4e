"""The raw weights of the maps in a network: which they are, how large their gradients, whether they are in range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array

from stablessm.layers.roles import layers_of
from stablessm.models import Network
from stablessm.parameterizations.domain import finite_range


def map_layers(block: Any) -> list[Any]:
    """Return what has eigenvalues of a map, `parameterization` and raw `weight`: layers, and the factors of a dlr."""
    parts = (part for layer in layers_of(block) for part in (layer, *getattr(layer, "factors", ())))
    return [one for one in parts if hasattr(one, "parameterization") and hasattr(one, "weight")]


def map_weights(block: Any) -> list[Any]:
    """Return the raw weights of the maps in a block, or what stands in their place in a gradient."""
    return [one.weight for one in map_layers(block)]


def mapped_blocks(model: Network) -> tuple[int, ...]:
    """Return the numbers, from 1 on, of the blocks whose layers have eigenvalues of a map."""
    return tuple(place for place, block in enumerate(model.blocks, 1) if map_weights(block))


def has_left(model: Network) -> Callable[[Network], Array]:
    """Return the test whether a weight of a user's map has left the range where its formula is finite and positive.

    Args:
        model: at its start, where all of them are inside.
    """
    ranges = []
    for layer in (one for block in model.blocks for one in map_layers(block)):
        user = layer.parameterization.reference == "user"
        ranges.append(finite_range(layer.parameterization, around=float(jnp.median(layer.weight))) if user else None)

    def left(model: Network) -> Array:
        weights = [weight for block in model.blocks for weight in map_weights(block)]
        outside = [
            ~((weight > range_.lower) & (weight < range_.upper)).all()
            for weight, range_ in zip(weights, ranges, strict=True)
            if range_ is not None
        ]
        return jnp.stack(outside).any() if outside else jnp.bool_(False)

    return left
