"""The program of the measurement `pointwise_network`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.layers import ACTIVATIONS, pointwise
from stablessm.measurements.base import Program
from stablessm.measurements.draws import normal
from stablessm.measurements.pointwise_network import PointwiseNetworkSettings

_EXACT = jax.lax.Precision.HIGHEST


@dataclass(frozen=True)
class NetworkStartOf:
    """seed -> (U_2, b_2, U_1, b_1, direction of the line)."""

    width: int
    features: int

    def __call__(self, seed: Array) -> tuple[Array, ...]:
        """Draw the weights of a seed (uint32 scalar)."""
        width, features = self.width, self.features
        drawn = normal(jax.random.key(seed), (width * (2 * features + 1) + 2 * features,))  # at once: compiles soonest
        ends = np.cumsum([width * features, width, features * width, features])
        inner, inner_bias, outer, outer_bias, direction = jnp.split(drawn, ends)
        return (
            inner.reshape(width, features),
            inner_bias,
            outer.reshape(features, width) / width**0.5,
            outer_bias,
            direction / features**0.5,
        )


def pointwise_network(static: Mapping[str, Any], settings: PointwiseNetworkSettings) -> Program:
    """Program of `pointwise_network`: the one by products of matrices, the other by its recurrences."""
    activation, width, features = ACTIVATIONS[static["activation"]], static["width"], settings.features
    places = np.linspace(-settings.extent, settings.extent, settings.points)

    def measure(traced: Mapping[str, Array], starts: tuple[Array, ...], index: Array) -> Mapping[str, Array]:
        inner, inner_bias, outer, outer_bias, direction = (leaf[index] for leaf in starts)
        size = jnp.asarray(places, inner.dtype)
        x = size[:, None] * direction

        def product(one: Array, two: Array) -> Array:
            return jnp.matmul(one, two.T, precision=_EXACT)

        network = product(activation(product(x, inner) + inner_bias), outer) + outer_bias
        key = jax.random.key(0)  # every weight is replaced
        lower = pointwise(width, inputs=features, activation=activation, key=key)
        upper = pointwise(features, inputs=width, key=key)
        lower, upper = (
            eqx.tree_at(lambda one: (one.input_weight, one.bias), layer, weights)
            for layer, weights in ((lower, (inner, inner_bias)), (upper, (outer, outer_bias)))
        )
        stacked, _ = upper.hidden(lower(x)[0])
        return {
            "network_output": network[:, 0],
            "stack_output": stacked[:, 0],
            "difference": jnp.abs(network - stacked).max(1),
            "input_size": size,
        }

    coordinates = {"time": np.arange(settings.points, dtype=float)}
    return Program(coordinates, NetworkStartOf(width, features), measure)
