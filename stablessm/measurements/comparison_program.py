"""The program of the measurement `comparison`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.data.records import as_values
from stablessm.measurements.base import Program
from stablessm.measurements.comparison import GRADIENTS, ComparisonSettings, OneTraining
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.network_fit import Data, NetworkFit, network_fit
from stablessm.models import Network
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.training.batches import Examples

_ROWS = 8  # whose gradient by the inputs is taken
_STAGES = ("start", "end")


def comparison(static: Mapping[str, Any], settings: ComparisonSettings) -> Program:
    """Program of `comparison`.

    Raises:
        ValueError: an axis names a task or a model without a table, or gradients by inputs are asked of a network that
            has none.
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

    if settings.series_lengths and (fit.model.has_tokens or not fit.model.is_causal):
        raise ValueError("`series_lengths` are of networks that read values, look at no later ones and pool no steps")

    def measure(traced: Mapping[str, Array], starts: Any, index: Array, data: Data) -> Mapping[str, Array]:
        begun = fit.parameters(starts, index)
        trajectory, verdict = fit.train(begun, starts[1][index], data, rate=one.learning_rate, steps=one.steps)
        gradients: dict[str, Array] = {}
        if settings.series_lengths:
            both = jax.tree.map(lambda *parts: jnp.stack(parts), begun, trajectory.parameters)
            found_both = jax.lax.map(
                lambda parts: input_gradients(
                    fit.with_parameters(parts), data["test"], settings.series_lengths, key=jax.random.key(0)
                ),
                both,
            )
            gradients = {
                name: jnp.nan_to_num(part, nan=jnp.inf) for name, part in zip(GRADIENTS, found_both, strict=True)
            }
        trained = fit.with_parameters(trajectory.parameters)
        mean, score, error = fit.scores(trained, data, "test")
        found = {"test_loss": mean, f"test_{metric}": score, f"test_{metric}_error": error}
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[kept],
            **{name: jnp.where(jnp.isfinite(value), value, jnp.inf) for name, value in found.items()},
            **{name: jnp.asarray(value) for name, value in known.items()},
            **gradients,
        }

    coordinates = {"progress": progress}
    if settings.series_lengths:
        coordinates |= {"stage": np.asarray(_STAGES), "series_length": np.asarray(settings.series_lengths, np.int64)}
    return Program(coordinates, fit.start_of, measure, (fit.data,))


def input_gradients(model: Network, rows: Examples, lengths: tuple[int, ...], *, key: Array) -> tuple[Array, Array]:
    """Return how large the gradient of the last features is in the first input, and in all inputs, by length.

    Of v h_{L-1}, h the features behind the last block and v random signs: the root of the mean square, over a few
    series, of the 2-norm of the gradient. Without v it would be the norm of the whole Jacobian: its mean square is the
    same. A series is the rows of the data from one of them on, one behind the other.

    Args:
        model: a causal network that reads values.
        rows: of the data; their first few.
        lengths: L of each, at least 1.
        key: PRNG key of the signs.

    Returns:
        (first, all): each of shape (lengths,).
    """
    values = as_values(rows.inputs).astype(model.encoder.weight.dtype)
    longest, (_, time, features) = max(lengths), values.shape
    places = (jnp.arange(_ROWS)[:, None] + jnp.arange(-(-longest // time))) % len(values)
    series = values[places].reshape(_ROWS, -1, features)[:, :longest]

    def hidden(x: Array) -> Array:
        y = jax.vmap(model.encoder)(x)
        for block in model.blocks:
            y, _ = block(y)
        return y

    def one(x: Array, own: Array) -> tuple[Array, Array]:
        y, pull = jax.vjp(lambda x: hidden(x)[-1], x)
        squares = jnp.square(pull(jax.random.rademacher(own, y.shape, y.dtype))[0]).sum(-1)
        return squares[0], squares.sum()

    # each length by itself: in a longer series the transforms of a kernel that overflows spoil its first steps, too
    keys = jax.random.split(key, _ROWS)
    squares = [jax.lax.map(lambda given: one(*given), (series[:, :length], keys)) for length in lengths]
    return tuple(jnp.sqrt(jnp.stack(part).mean(1)) for part in zip(*squares, strict=True))  # type: ignore[return-value]


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
