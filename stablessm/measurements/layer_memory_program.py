"""The program of the measurement `layer_memory`."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program
from stablessm.measurements.layer_memory import LayerMemorySettings
from stablessm.memory.functions import heaviside
from stablessm.tasks.architecture import Architecture, network

_SERIES = SimpleNamespace(purpose="regression", inputs=1, tokens=0, outputs=1, asks_at_the_end=False)


def layer_memory(static: Mapping[str, Any], settings: LayerMemorySettings) -> Program:
    """Program of `layer_memory`: layers as `stablessm train` starts them, without the block around."""
    map_, length = static["parameterization"], settings.length

    def layer_of(kind: str, key: Array) -> Any:
        architecture = Architecture(layer=(kind,), depth=1, width=settings.width, states=settings.states)
        made = network(architecture, map_, _SERIES, key=key, start_key=jax.random.key(0))
        return made.blocks[0].layer

    def measure(traced: Mapping[str, Array], starts: Array, index: Array) -> Mapping[str, Array]:
        key = jax.random.wrap_key_data(starts[index])
        signs = jax.random.rademacher(key, (settings.signs, settings.width), jnp.result_type(float))

        def remembered(layer: Any) -> Array:
            """The largest |y_k - y_{k-1}| over inputs of size 1 and over outputs."""
            return jax.vmap(lambda x: heaviside(layer, x, length))(signs).max((0, 2))

        found = [remembered(layer_of(kind, key)) for kind in settings.layers]
        return {"memory_function": jnp.stack(found).astype(signs.dtype)}

    coordinates = {"kind": np.asarray(settings.layers), "time": np.arange(length, dtype=float)}
    return Program(coordinates, lambda seed: jax.random.key_data(jax.random.key(seed)), measure)
