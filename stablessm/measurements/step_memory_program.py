"""The program of the measurement `step_memory`: the compiler is asked, its answer is the measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program
from stablessm.measurements.comparison import ComparisonSettings
from stablessm.measurements.comparison_program import chosen, fit_of
from stablessm.measurements.compiling import compiled, compiled_bytes


def step_memory(static: Mapping[str, Any], settings: ComparisonSettings) -> Program:
    """Program of `step_memory`: arguments, results and what lies between them, of the update by one batch.

    Raises:
        ValueError: an axis names a task or a model without a table.
        DataError, TaskError, ArchitectureError: as `network_fit`.
    """
    one = chosen(static, settings)
    fit = fit_of(one)
    parameters = eqx.filter(fit.model, eqx.is_inexact_array)
    key = jax.random.key_data(jax.random.key(0))

    def step(parameters: Any, data: Any) -> Any:
        return fit.train(parameters, key, data, rate=one.learning_rate, steps=1)[0].parameters

    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), (parameters, fit.data))
    needed = compiled_bytes(compiled(jax.jit(step).lower(*shapes), jax.default_backend(), thorough=True))
    found = {
        "step_memory": np.float32(needed or np.inf),
        "parameters": np.int32(sum(leaf.size for leaf in jax.tree.leaves(parameters))),
    }

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        return {name: jnp.asarray(value) for name, value in found.items()}

    return Program({}, _nothing, measure)


def _nothing(seed: Array) -> Array:
    """The start of what does not start."""
    return jnp.zeros((), seed.dtype)
