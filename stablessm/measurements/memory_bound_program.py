"""The program of the measurement `memory_bound`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.kernel_fit import check_start
from stablessm.measurements.memory_bound import MemoryBoundSettings
from stablessm.measurements.stacks import StackStart, StackStartOf, stack_of
from stablessm.memory.supremum import memory_function
from stablessm.models import Stack, bounds
from stablessm.parameterizations.links import time_of


def memory_bound(static: Mapping[str, Any], settings: MemoryBoundSettings) -> Program:
    """Program of `memory_bound`: layer l is the model of the first l layers with a readout of its own."""
    parameterization, length = static["parameterization"], settings.memory_horizon
    check_start(
        static.get("fillings", ((parameterization,),)), settings.slowest_decay, settings.fastest_decay
    )  # fmt: skip
    step = settings.step_size if time_of(parameterization.link) == "continuous" else 1.0
    kept = np.arange(length)
    if length > settings.records:
        kept = np.unique(np.geomspace(1, length, settings.records).astype(int)) - 1

    def measure(traced: Mapping[str, Array], starts: StackStart, index: Array) -> Mapping[str, Array]:
        start = jax.tree.map(lambda leaf: leaf[index], starts)
        whole = stack_of(parameterization, start, static["activation"], settings, constants_of(traced))
        models = [
            Stack(whole.layers[: place + 1], readout=readout, scalar=True)
            for place, readout in enumerate(start.readout)
        ]

        def every(x: Array, state: Any = None) -> tuple[Array, Any]:
            """The outputs of all models, which share their layers, side by side."""
            y, states, read = x[:, None], [], []
            for layer, readout, own in zip(whole.layers, start.readout, state or [None] * len(models), strict=True):
                y, own = layer(y, own)
                states.append(own)
                read.append(y @ readout[0])
            return jnp.stack(read, axis=1), states

        state = _rest(whole)

        def memory(query: str) -> Array:
            found = memory_function(every, length, query=query, climbs=settings.climbs, apart=True, state=state)
            return found[kept].T / step

        moduli = zip(bounds.increments(whole, length), start.readout, strict=True)
        return {
            "memory_function": memory("heaviside"),
            "impulse_memory": memory("impulse"),
            "reversed_memory": memory("reversed"),
            "memory_bound": jnp.stack([bounds.memory_bound(one, length)[kept] for one in models]),
            "memory_majorant": jnp.stack([one[kept] @ jnp.abs(readout[0]) for one, readout in moduli]),
            "slowest_decay": jnp.stack([bounds.slowest_decay(one) for one in models]),
            "largest_weight": jnp.stack([bounds.largest_weight(one) for one in models]),
            "initial_eigenvalue": jnp.stack([one.eigenvalues() for one in whole.layers]),
        }

    coordinates = {
        "layer": 1 + np.arange(settings.depth, dtype=np.int32),
        "time": kept * step,
        "state": np.arange(static["width"], dtype=np.int32),
    }
    return Program(coordinates, StackStartOf(static["width"], 0, settings), measure)


def _rest(stack: Stack) -> list[Array]:
    """The states that zero input leaves as they are: h = gain (U y + b)/(1 - lambda_bar), y from the layer below."""
    y, states = jnp.zeros(1, stack.layers[0].weight.dtype), []
    for layer in stack.layers:
        _, gain = layer.discretised()
        states.append(gain * (layer.input_weight @ y + layer.bias) / layer.margin())
        y = layer.activation(states[-1])
    return states
