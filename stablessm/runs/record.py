"""All that a run has come to: what its checkpoint holds, and the dataset made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.ratios import QUANTILES
from stablessm.models import Network
from stablessm.runs.declaration import Declaration
from stablessm.tasks.maps import has_left, mapped_blocks
from stablessm.tasks.origin import Origin
from stablessm.tasks.task import Task
from stablessm.training.loop import TrainingState
from stablessm.training.outcomes import OUTCOMES, judge
from stablessm.training.recipe import learning_rate
from stablessm.training.run import recorded_steps

if TYPE_CHECKING:
    import xarray as xr


class Record(NamedTuple):
    """A run so far, in arrays of one size from its start to its end, so that its checkpoint has one shape.

    Attributes:
        state: of the training loop.
        best: parameters of the best look at the validation rows, those of the start before the first.
        best_step: steps before that look; 0 before the first.
        waited: looks since.
        losses: of the batch of each step, shape (steps,); infinite where it has not been taken.
        ratios: quantiles of gradient over weight at each recorded step, by layer, shape (records, layers, quantiles).
        validation_loss: of each look, shape (looks,).
        validation_metric: likewise.
    """

    state: TrainingState
    best: Any
    best_step: Array
    waited: Array
    losses: Array
    ratios: Array
    validation_loss: Array
    validation_metric: Array


def empty(start: TrainingState, declaration: Declaration, layers: int) -> Record:
    """Return the record of a run that has not begun.

    Args:
        start: of the training loop.
        declaration: of the run.
        layers: that have eigenvalues of a map.
    """
    steps, looks = declaration.batches, len(declaration.looks)
    kept = recorded_steps(steps, declaration.records)
    never = jnp.full(looks, jnp.inf)
    return Record(
        start, start.parameters, jnp.int32(0), jnp.int32(0), jnp.full(steps, jnp.inf),
        jnp.full((len(kept), layers, len(QUANTILES)), jnp.inf), never, never,
    )  # fmt: skip


def outcome_of(record: Record, begun: Network, model: Network, task: Task) -> tuple[str, int]:
    """Return the outcome of a run and its first bad step, -1 where there is none.

    Its loss after the last step is that of the last look at the validation rows.

    Args:
        record: of a run that is over.
        begun: the network at its start.
        model: with its last finite weights.
        task: what it was trained on.
    """
    losses = np.asarray(record.losses)[: int(record.state.step)]
    looks = np.asarray(record.validation_loss)
    looks = looks[np.isfinite(looks)]
    bad = int(record.state.first_bad_step)
    finite = losses if bad < 0 else losses[:bad]
    ends = looks[-1] if looks.size and bad < 0 else finite[-1] if finite.size else np.inf
    if bad >= 0:  # as `run.run` has it: the last finite loss stands for those behind it
        losses = np.where(np.isfinite(losses), losses, ends)
    verdict = judge(
        jnp.asarray(np.append(losses, ends), jnp.float32),
        nonfinite_step=jnp.int32(bad),
        left_domain=has_left(begun)(model),
        zero_loss=jnp.float32(task.zero_loss),
    )
    return OUTCOMES[int(verdict.outcome)], int(verdict.first_bad_step)


def dataset_of(
    record: Record, declaration: Declaration, begun: Network, model: Network, task: Task, origin: Origin | None
) -> xr.Dataset:
    """Return the dataset of a run that is over; nothing in it is NaN, and what was not reached is not in it.

    Args:
        record: the run.
        declaration: what it is of.
        begun: the network at its start.
        model: with its last finite weights.
        task: what it was trained on.
        origin: where a step that was not finite began.
    """
    import xarray as xr

    outcome, first_bad = outcome_of(record, begun, model, task)
    bad = int(record.state.first_bad_step)
    taken = int(record.state.step) if bad < 0 else bad + 1
    kept = np.array([step for step in recorded_steps(declaration.batches, declaration.records) if step < taken])
    looks = np.isfinite(record.validation_metric)
    rate = jax.vmap(learning_rate(declaration.recipe))(jnp.asarray(kept // declaration.recipe.accumulate))
    origin = origin or Origin(-1, "")
    metric = task.metric.replace("_", " ")

    def variable(dims: Any, values: Any, long_name: str, units: str = "1", **more: Any) -> Any:
        return dims, values, {"units": units, "long_name": long_name, **more}

    units = "nat" if task.purpose in ("classification", "language") else "1"
    return xr.Dataset(
        {
            "outcome": variable((), np.int32(OUTCOMES.index(outcome)), "outcome of the run",
                                flag_values=np.arange(len(OUTCOMES), dtype=np.int32),
                                flag_meanings=" ".join(OUTCOMES)),
            "first_bad_step": variable((), np.int32(first_bad), "first bad step, -1 where there is none"),
            "first_bad_layer": variable((), np.int32(origin.layer),
                                        "where a step that is not finite began: 0 encoder, then blocks, last the head; "
                                        "-1 where there is none"),
            "loss": variable("step", np.asarray(record.losses)[kept], "training loss of a batch", units),
            "learning_rate": variable("step", np.asarray(rate, np.float32), "learning rate, before multipliers"),
            "gradient_to_weight_ratio": variable(
                ("step", "layer", "quantile"), np.asarray(record.ratios)[: len(kept)],
                "gradient over weight of the raw weights of a layer's map"),
            "validation_loss": variable("validation_step", np.asarray(record.validation_loss)[looks],
                                        "loss on the validation rows", units),
            f"validation_{task.metric}": variable("validation_step", np.asarray(record.validation_metric)[looks],
                                                  f"{metric} on the validation rows",
                                                  "bit" if task.metric.startswith("bits") else "1"),
            "best_step": variable((), np.int32(record.best_step), "steps before the best look at the validation rows"),
        },
        {
            "step": variable("step", kept, "step"),
            "layer": variable("layer", np.asarray(mapped_blocks(model), np.int64), "block, counted from the encoder"),
            "quantile": variable("quantile", np.asarray(QUANTILES), "quantile over the weights"),
            "validation_step": variable("validation_step", np.asarray(declaration.looks)[looks], "steps before a look"),
        },
        {
            "experiment": declaration.name,
            "spec": declaration.document(),
            "outcome": outcome,
            "first_bad_place": origin.sentence(model) if bad >= 0 else "",
            "parameters": sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array))),
            "zero_loss": task.zero_loss,
            **({"trivial": task.trivial[0], "trivial_score": task.trivial[1]} if task.trivial else {}),
        },
    )  # fmt: skip
