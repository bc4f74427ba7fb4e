"""The program of the measurement `comparison`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program
from stablessm.measurements.comparison import ComparisonSettings, OneTraining
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.network_fit import Data, NetworkFit, network_fit
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization


def comparison(static: Mapping[str, Any], settings: ComparisonSettings) -> Program:
    """Program of `comparison`.

    Raises:
        ValueError: an axis names a task or a model without a table.
        DataError, TaskError, ArchitectureError: as `network_fit`.
    """
    one = chosen(static, settings)
    fit = fit_of(one)
    metric, trivial = fit.task.metric, fit.task.trivial
    progress = np.linspace(0.0, 1.0, settings.records + 1)
    kept = np.round(progress * one.steps).astype(int)
    size = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(fit.model, eqx.is_inexact_array)))
    known = {
        **({"trivial_score": np.float32(trivial[1])} if trivial is not None else {}),
        "reported_score": np.float32(np.inf if one.reported is None else one.reported),
        "steps": np.int32(one.steps),
        "parameters": np.int32(size),
    }

    def measure(traced: Mapping[str, Array], starts: Any, index: Array, data: Data) -> Mapping[str, Array]:
        trajectory, verdict = fit.train(
            fit.parameters(starts, index), starts[1][index], data, rate=one.learning_rate, steps=one.steps
        )
        trained = fit.with_parameters(trajectory.parameters)
        mean, score, error = fit.scores(trained, data, "test")
        found = {"test_loss": mean, f"test_{metric}": score, f"test_{metric}_error": error}
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[kept],
            **{name: jnp.where(jnp.isfinite(value), value, jnp.inf) for name, value in found.items()},
            **{name: jnp.asarray(value) for name, value in known.items()},
        }

    return Program({"progress": progress}, fit.start_of, measure, (fit.data,))


def chosen(static: Mapping[str, Any], settings: ComparisonSettings) -> OneTraining:
    """Return the training of one combination of static axes.

    Args:
        static: some of `task`, `model` and `length`.
        settings: those of the sweep.

    Raises:
        ValueError: an axis names a task or a model without a table.
    """
    return settings.of(**{name: static[name] for name in ("task", "model", "length") if name in static})


def fit_of(one: OneTraining) -> NetworkFit:
    """Return a training made ready, its map from the settings.

    Args:
        one: what is trained on what.

    Raises:
        ValueError: a map that is none.
    """
    known = PARAMETERIZATIONS.get(one.parameterization)
    map_ = Parameterization.from_formula(one.parameterization) if known is None else known
    return network_fit({"parameterization": map_.replace(link=one.link), "width": one.width}, one)
