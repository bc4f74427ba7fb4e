"""The program of the measurement `training`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.data.loading import load
from stablessm.measurements.base import Program
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.ratios import QUANTILES, ratios_by_layer
from stablessm.measurements.training import TrainingSettings
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.tasks.activations import Activations, with_activations
from stablessm.tasks.architecture import Architecture, network
from stablessm.tasks.maps import has_left, map_weights, mapped_blocks
from stablessm.tasks.scores import loss_of, row_losses
from stablessm.tasks.task import Split, Task, task_of
from stablessm.training.batches import Drawing, Examples, batch_at, orders_of, rows_in, taken
from stablessm.training.outcomes import judge
from stablessm.training.recipe import Recipe, transformation
from stablessm.training.run import recorded_steps, run

_ROWS_AT_A_TIME = 128


@dataclass(frozen=True)
class StartOf:
    """seed -> (all weights but those of a map, keys); equal for all maps of a sweep under one link."""

    architecture: str
    link: str
    task: tuple[Any, ...]

    def __call__(self, seed: Array) -> tuple[list[Array], Array]:
        """Draw the start of a seed (uint32 scalar)."""
        reference = PARAMETERIZATIONS["exp"].replace(link=self.link)
        key = jax.random.key(seed)
        model = network(
            Architecture.model_validate_json(self.architecture), reference, _Shape(*self.task),
            key=key, start_key=jax.random.key(0),
        )  # fmt: skip
        leaves, of_map = _leaves(model)
        rest = [leaf for leaf, is_map in zip(leaves, of_map, strict=True) if not is_map]
        return rest, jax.random.key_data(jax.random.fold_in(key, 1))


@dataclass(frozen=True)
class _Shape:
    """What of a task decides the shape of a network."""

    purpose: str
    inputs: int
    tokens: int
    outputs: int
    asks_at_the_end: bool


def training(static: Mapping[str, Any], settings: TrainingSettings) -> Program:
    """Program of `training`."""
    map_: Parameterization = static["parameterization"]
    task = _task(settings.data, repr(sorted(settings.options.items())), settings.context, _Options(settings.options))
    shape = task.purpose, task.inputs, task.tokens, task.outputs, task.asks_at_the_end
    architecture = Architecture(
        layer=tuple(settings.layer), options=settings.layer_options, width=static["width"],
        **{name: getattr(settings, name)
           for name in ("depth", "states", "start", "norm", "mixing", "dropout", "residual", "pool_steps", "readout")},
    )  # fmt: skip
    given = {
        name: getattr(settings, name) for name in Recipe.model_fields.keys() & TrainingSettings.model_fields.keys()
    }
    recipe = Recipe(**{**given, "clip": settings.clip or None})
    start = StartOf(architecture.model_dump_json(), map_.link, shape)
    # The map's own weights are those of the first key: eigenvalues at the start are one for all seeds and maps.
    own = network(architecture, map_, task, key=jax.random.key(0), start_key=jax.random.key(0))
    leaves, of_map = _leaves(own)
    parts, rest = eqx.partition(own, eqx.is_inexact_array)
    tree = jax.tree.structure(parts)
    loss_of_batch, kept = loss_of(task, settings.activations), recorded_steps(settings.steps, settings.records)
    rows = len(task.splits["train"].inputs)
    left, drawing = has_left(own), Drawing(task.draw, task.change)

    def measure(
        traced: Mapping[str, Array], starts: Any, index: Array, data: Mapping[Split, Examples]
    ) -> Mapping[str, Array]:
        drawn = iter([leaf[index] for leaf in starts[0]])
        begun = [one if is_map else next(drawn) for one, is_map in zip(leaves, of_map, strict=True)]
        key = jax.random.wrap_key_data(starts[1][index])
        (order_key, dropout_key), change_key = jax.random.split(key), jax.random.fold_in(key, 2)
        orders = None if task.draw else orders_of(order_key, steps=settings.steps + 1, rows=rows, batch=settings.batch)

        def loss(parts: Any, step: Array) -> Array:
            batch = batch_at(
                data["train"], step, lambda: rows_in(orders, step, batch=settings.batch), drawing, change_key,
                batch=settings.batch,
            )  # fmt: skip
            return loss_of_batch(eqx.combine(parts, rest), batch, jax.random.fold_in(dropout_key, step))

        parameters = jax.tree.unflatten(tree, begun)
        trajectory = run(
            loss,
            parameters,
            transformation(recipe, parameters, rate=traced["learning_rate"]),
            steps=settings.steps,
            observe=lambda parts, gradient, state: ratios_by_layer(parts, gradient),
            records=settings.records,
        )
        trained = eqx.combine(trajectory.parameters, rest)
        verdict = judge(
            trajectory.losses,
            nonfinite_step=trajectory.nonfinite_step,
            left_domain=left(trained),
            zero_loss=jnp.asarray(task.zero_loss, trajectory.losses.dtype),
        )
        found: dict[str, Array] = {}
        for split in ("validation", "test"):
            losses, right = _scores(task, settings.activations, trained, data[split])
            mean, metric, error = _summary(task, split, losses, right)
            found |= {f"{split}_loss": mean, f"{split}_{task.metric}": metric, f"{split}_{task.metric}_error": error}
        del found[f"validation_{task.metric}_error"]
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[np.asarray(kept)],
            "gradient_to_weight_ratio": trajectory.observations,
            **{name: jnp.where(jnp.isfinite(value), value, jnp.inf) for name, value in found.items()},
        }

    data = {
        split: jax.tree.map(
            lambda part: jnp.asarray(part, jnp.int32 if np.asarray(part).dtype.kind == "i" else None),
            part if split == "train" or not settings.evaluated
            else jax.tree.map(lambda leaf: leaf[: settings.evaluated], part),
        )
        for split, part in task.splits.items()
    }  # fmt: skip
    coordinates = {
        "step": np.asarray(kept, np.int32),
        "layer": np.asarray(mapped_blocks(own), np.int32),
        "quantile": np.asarray(QUANTILES),
    }
    return Program(coordinates, start, measure, (data,))


class _Options(dict):
    """Options that `lru_cache` takes: their text, beside them, is what counts."""

    def __hash__(self) -> int:  # type: ignore[override]
        return 0


@lru_cache(maxsize=2)
def _task(name: str, _: str, context: int, options: Mapping[str, Any]) -> Task:
    return task_of(load(name, None, **options), context=context)


def _leaves(model: Any) -> tuple[list[Array], list[bool]]:
    """The trained arrays of a network, and which of them are raw weights of a map."""
    parts = eqx.filter(model, eqx.is_inexact_array)
    own = {id(weight) for block in parts.blocks for weight in map_weights(block)}
    leaves = jax.tree.leaves(parts)
    return leaves, [id(leaf) in own for leaf in leaves]


def _scores(task: Task, activations: Activations, model: Any, rows: Examples) -> tuple[Array, Array]:
    """Losses of all rows, and which are right, some rows at a time."""
    count = len(rows.inputs)
    size = min(_ROWS_AT_A_TIME, count)
    chosen = jnp.minimum(jnp.arange(-(-count // size) * size), count - 1).reshape(-1, size)
    some = jax.lax.map(
        lambda one: row_losses(task, with_activations(model, activations), taken(rows, one), None), chosen
    )
    return tuple(part.reshape(-1)[:count] for part in some)  # type: ignore[return-value]


def _summary(task: Task, split: Split, losses: Array, right: Array) -> tuple[Array, Array, Array]:
    """Mean loss, metric and its standard error, as `tasks.scores.summary` has them."""
    mean, count = losses.mean(), len(losses)
    if task.purpose == "classification":
        share = right.mean()
        return mean, share, jnp.sqrt(share * (1 - share) / count)
    scale = 1.0 if task.purpose == "next_value" else 1 / (np.log(2) * task.per_token[split])
    blocks = jnp.stack([losses[part].mean() for part in np.array_split(np.arange(count), min(count, 50))])
    error = blocks.std(ddof=1) / len(blocks) ** 0.5 if len(blocks) > 1 else jnp.inf
    return mean, mean * scale, error * scale
