"""The program of the measurement `training`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.network_fit import Data, network_fit
from stablessm.measurements.ratios import QUANTILES, ratios_by_layer
from stablessm.measurements.training import TrainingSettings
from stablessm.tasks.maps import mapped_blocks
from stablessm.training.run import recorded_steps


def training(static: Mapping[str, Any], settings: TrainingSettings) -> Program:
    """Program of `training`."""
    fit, kept = network_fit(static, settings), recorded_steps(settings.steps, settings.records)
    metric = fit.task.metric

    def measure(traced: Mapping[str, Array], starts: Any, index: Array, data: Data) -> Mapping[str, Array]:
        trajectory, verdict = fit.train(
            fit.parameters(starts, index),
            starts[1][index],
            data,
            rate=traced["learning_rate"],
            steps=settings.steps,
            observe=lambda parts, gradient, state: ratios_by_layer(parts, gradient),
            records=settings.records,
        )
        trained = fit.with_parameters(trajectory.parameters)
        found: dict[str, Array] = {}
        for split in ("validation", "test"):
            mean, score, error = fit.scores(trained, data, split)
            found |= {f"{split}_loss": mean, f"{split}_{metric}": score, f"{split}_{metric}_error": error}
        del found[f"validation_{metric}_error"]
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[np.asarray(kept)],
            "gradient_to_weight_ratio": trajectory.observations,
            **{name: jnp.where(jnp.isfinite(value), value, jnp.inf) for name, value in found.items()},
        }

    coordinates = {
        "step": np.asarray(kept, np.int32),
        "layer": np.asarray(mapped_blocks(fit.model), np.int32),
        "quantile": np.asarray(QUANTILES),
    }
    return Program(coordinates, fit.start_of, measure, (fit.data,))
