"""The problem of the measurements that train a network on data, made ready for one map and one block.

All weights but the raw ones of the maps come from the seed alone; eigenvalues at the start are one for all seeds and
maps. So equal seeds are equal networks, whatever the map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from stablessm.data.loading import load
from stablessm.measurements.training import TrainingSettings
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.tasks.activations import Activations, with_activations
from stablessm.tasks.architecture import Architecture, network
from stablessm.tasks.maps import has_left, map_weights
from stablessm.tasks.scores import loss_of, row_losses
from stablessm.tasks.task import Split, Task, task_of
from stablessm.training.batches import Drawing, Examples, batch_at, orders_of, rows_in, taken
from stablessm.training.outcomes import Verdict, judge
from stablessm.training.recipe import Recipe, transformation
from stablessm.training.run import Trajectory, run

_ROWS_AT_A_TIME = 128
Data = Mapping[Split, Examples]


@dataclass(frozen=True)
class StartOf:
    """seed -> (all weights but those of a map, keys); equal for all maps of a sweep under one link."""

    architecture: str
    link: str
    task: tuple[Any, ...]

    def __call__(self, seed: Array) -> tuple[list[Array], Array]:
        """Draw the start of a seed (uint32 scalar)."""
        architecture = Architecture.model_validate_json(self.architecture)
        # what grows has no weight under exp
        reference = PARAMETERIZATIONS["direct" if architecture.start == "gaussian" else "exp"].replace(link=self.link)
        key = jax.random.key(seed)
        with jax.ensure_compile_time_eval():  # known, though the seed is traced
            start_key = jax.random.key(0)
        model = network(architecture, reference, _Shape(*self.task), key=key, start_key=start_key)
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


class NetworkFit(NamedTuple):
    """A network and its training, for one combination of static axes.

    Attributes:
        task: data and question.
        model: the network of the first key, whose raw weights of the map every seed starts at.
        recipe: how it is trained, at a rate that is given later.
        start_of: seed -> start.
        data: the rows of every split, arrays that every cell reads.
        activations: as in `loss_of`.
    """

    task: Task
    model: Any
    recipe: Recipe
    start_of: StartOf
    data: Data
    activations: Activations

    def parameters(self, starts: Any, index: Array) -> Any:
        """Return what is trained, at the start of a cell.

        Args:
            starts: the stacked starts of the seeds.
            index: which of them.
        """
        leaves, of_map = _leaves(self.model)
        drawn = iter([leaf[index] for leaf in starts[0]])
        begun = [one if is_map else next(drawn) for one, is_map in zip(leaves, of_map, strict=True)]
        return jax.tree.unflatten(jax.tree.structure(eqx.filter(self.model, eqx.is_inexact_array)), begun)

    def with_parameters(self, parameters: Any) -> Any:
        """Return the network with these parameters."""
        return eqx.combine(parameters, eqx.partition(self.model, eqx.is_inexact_array)[1])

    def train(
        self,
        parameters: Any,
        key: Array,
        data: Data,
        *,
        rate: ArrayLike,
        steps: int,
        factors: Any = None,
        observe: Callable[[Any, Any, Any], Any] = lambda parameters, gradient, state: (),
        records: int = 1,
    ) -> tuple[Trajectory, Verdict]:
        """Train one cell.

        Args:
            parameters: where it starts.
            key: key data of a start: of the order of the rows and of dropout.
            data: `data`, as the program is handed it.
            rate: the largest learning rate, traced or not.
            steps: of the optimiser.
            factors: pytree like the parameters that multiplies the rate of each; None for 1.
            observe: as `training.run.run` has it.
            records: likewise.
        """
        rows = len(self.task.splits["train"].inputs)
        loss_of_batch = loss_of(self.task, self.activations)
        key = jax.random.wrap_key_data(key)
        (order_key, dropout_key), change_key = jax.random.split(key), jax.random.fold_in(key, 2)
        batch, drawing = self.recipe.batch, Drawing(self.task.draw, self.task.change)
        orders = None if self.task.draw else orders_of(order_key, steps=steps + 1, rows=rows, batch=batch)

        def loss(parts: Any, step: Array) -> Array:
            chosen = batch_at(
                data["train"], step, lambda: rows_in(orders, step, batch=batch), drawing, change_key, batch=batch
            )
            return loss_of_batch(self.with_parameters(parts), chosen, jax.random.fold_in(dropout_key, step))

        optimizer = transformation(self.recipe.model_copy(update={"steps": steps}), parameters, rate=rate)
        if factors is not None:
            scaled = optax.stateless(lambda updates, _: jax.tree.map(jnp.multiply, updates, factors))
            optimizer = optax.chain(optimizer, scaled)
        trajectory = run(loss, parameters, optimizer, steps=steps, observe=observe, records=records)
        return trajectory, judge(
            trajectory.losses,
            nonfinite_step=trajectory.nonfinite_step,
            left_domain=has_left(self.model)(self.with_parameters(trajectory.parameters)),
            zero_loss=jnp.asarray(self.task.zero_loss, trajectory.losses.dtype),
        )

    def scores(self, model: Any, data: Data, split: Split) -> tuple[Array, Array, Array]:
        """Return mean loss, metric and its standard error on a split, as `tasks.scores.summary` has them."""
        losses, right = _scores(self.task, self.activations, model, data[split])
        return _summary(self.task, split, losses, right)


def network_fit(static: Mapping[str, Any], settings: TrainingSettings, **replaced: Any) -> NetworkFit:
    """Load the data and build the network for one combination of static axes.

    Args:
        static: `parameterization`, `width` and, where it is an axis, the `length` of what is generated.
        settings: what is trained on what.
        replaced: parts of the architecture that take the place of those in the settings.

    Raises:
        DataError: the data are missing, damaged, or refuse an option.
        TaskError: their rows do not fit one another.
        ArchitectureError: the network cannot be built.
    """
    map_: Parameterization = static["parameterization"]
    options = settings.options | {name: static[name] for name in ("length",) if name in static}
    task = _task(settings.data, repr(sorted(options.items())), settings.context, _Options(options))
    shape = task.purpose, task.inputs, task.tokens, task.outputs, task.asks_at_the_end
    named = "depth", "states", "start", "norm", "mixing", "dropout", "residual", "pool_steps", "readout"
    parts = {name: getattr(settings, name) for name in named}
    architecture = Architecture(
        layer=tuple(settings.layer), options=settings.layer_options, width=static["width"], **{**parts, **replaced}
    )
    given = {
        name: getattr(settings, name) for name in Recipe.model_fields.keys() & TrainingSettings.model_fields.keys()
    }
    data = {
        split: jax.tree.map(
            lambda part: jnp.asarray(part, jnp.int32 if np.asarray(part).dtype.kind == "i" else None),
            part if split == "train" or not settings.evaluated
            else jax.tree.map(lambda leaf: leaf[: settings.evaluated], part),
        )
        for split, part in task.splits.items()
    }  # fmt: skip
    return NetworkFit(
        task=task,
        # The map's own weights are those of the first key: eigenvalues at the start are one for all seeds and maps.
        model=network(architecture, map_, task, key=jax.random.key(0), start_key=jax.random.key(0)),
        recipe=Recipe(**{**given, "clip": settings.clip or None}),
        start_of=StartOf(architecture.model_dump_json(), map_.link, shape),
        data=data,
        activations=settings.activations,
    )


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
    offset, factor = task.of_loss(split)
    blocks = jnp.stack([losses[part].mean() for part in np.array_split(np.arange(count), min(count, 50))])
    error = blocks.std(ddof=1) / len(blocks) ** 0.5 if len(blocks) > 1 else jnp.inf
    return mean, offset + factor * mean, error * abs(factor)
