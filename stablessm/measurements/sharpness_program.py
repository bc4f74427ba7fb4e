"""The program of the measurement `sharpness`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.layers import LinearRNN
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.curvature import largest_curvature
from stablessm.measurements.fit_programs import ending, recurrent, train, trainable
from stablessm.measurements.kernel_fit import Start, kernel_fit
from stablessm.measurements.map_programs import curvature_of, scale_of
from stablessm.measurements.ratios import gradient_to_weight
from stablessm.measurements.sharpness import SharpnessSettings
from stablessm.parameterizations import ParameterizationError
from stablessm.training.optimizers import OPTIMIZERS
from stablessm.training.run import recorded_steps


def sharpness(static: Mapping[str, Any], settings: SharpnessSettings) -> Program:
    """Program of `sharpness`: the run is recorded, and the curvatures are taken of the records.

    The loss whose curvature is taken is that of the recorded step's batch. Where recurrent weights have a
    rate of their own (`recurrent_rate`) the preconditioned curvature counts it.

    Raises:
        ParameterizationError: an optimiser whose learning rate changes by itself.
    """
    fit = kernel_fit(static, settings)
    optimizer = OPTIMIZERS[static["optimizer"]]
    if optimizer.edge is None:
        raise ParameterizationError(
            f"the measurement 'sharpness' needs an optimizer of a fixed learning rate, but got '{optimizer.name}'; "
            f"choose one of {', '.join(one.name for one in OPTIMIZERS.values() if one.edge)}"
        )
    kept = np.asarray(recorded_steps(settings.steps, settings.records), np.int32)

    def observe(parts: LinearRNN, gradient: LinearRNN, state: Any) -> tuple[LinearRNN, LinearRNN, LinearRNN]:
        return parts, gradient, optimizer.preconditioner(gradient, state)

    def measure(traced: Mapping[str, Array], starts: Start, index: Array) -> Mapping[str, Array]:
        constants = constants_of(traced)
        model, trajectory, verdict = train(
            static, settings, fit, starts, index, traced, observe=observe, records=settings.records
        )
        _, loss = fit.prepare(starts, index, constants)
        _, rest = eqx.partition(model, trainable(model))
        key = jax.random.wrap_key_data(starts.key[index])

        def at(record: tuple[Array, tuple[LinearRNN, LinearRNN, LinearRNN]]) -> Mapping[str, Array]:
            step, (parts, gradient, scales) = record

            def of(parts: LinearRNN) -> Array:
                return loss(eqx.combine(parts, rest), step)

            own = jax.tree.map(lambda chosen, leaf: jnp.full_like(leaf, chosen), recurrent(parts), parts)
            if "recurrent_rate" in traced:
                slow = traced["recurrent_rate"]
                scales = jax.tree.map(lambda one, leaf: leaf * jnp.where(one > 0, slow, 1), own, scales)
            three = jax.tree.map(lambda *leaves: jnp.stack(leaves), jax.tree.map(jnp.ones_like, parts), own, scales)
            whole, block, preconditioned = jax.lax.map(  # one copy to compile
                lambda one: largest_curvature(of, parts, scales=one, products=settings.products, key=key), three
            )
            weight = parts.weight
            over = gradient_to_weight(scale_of(model.parameterization, weight, **constants), weight)
            return {
                "loss": of(parts),
                "sharpness": whole,
                "recurrent_sharpness": block,
                "edge_ratio": traced["learning_rate"] * preconditioned / optimizer.edge,
                "gradient_to_weight_ratio": gradient_to_weight(gradient.weight, weight).max(),
                "gradient_scale_over_weight": over.max(),
                "mode_curvature": curvature_of(model.parameterization, weight, **constants).max(),
            }

        seen = jax.lax.map(at, (jnp.asarray(kept), trajectory.observations))
        return {
            **ending(trajectory, verdict),
            **jax.tree.map(lambda values: jnp.where(jnp.isnan(values), jnp.inf, values), seen),
            "initial_eigenvalue": model.eigenvalues(),
        }

    coordinates = {"state": np.arange(static["width"], dtype=np.int32), "step": kept}
    return Program(coordinates, fit.start_of, measure)
