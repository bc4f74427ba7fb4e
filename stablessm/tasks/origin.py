"""Where a step that is not finite began: one step run again, looked at block by block."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.models import Network
from stablessm.tasks.activations import Activations, with_activations
from stablessm.tasks.scores import loss_of, outputs
from stablessm.tasks.task import Task
from stablessm.training.batches import Examples

_OF = {
    "weights": "the weights of",
    "forward": "the outputs of",
    "loss": "the loss behind",
    "backward": "the gradient of",
}


class Origin(NamedTuple):
    """Where it began.

    Attributes:
        layer: 0 the encoder, 1 to depth the blocks, depth + 1 the head; -1 where everything is finite.
        during: "weights" that were not finite already, "forward", "loss" or "backward".
    """

    layer: int
    during: str

    def sentence(self, model: Network) -> str:
        """Return that in words."""
        depth = len(model.blocks)
        if self.layer < 0:
            return "nowhere: the step is finite when it is run again"
        name = "the encoder" if self.layer == 0 else "the head"
        if 1 <= self.layer <= depth:
            name = f"block {self.layer} of {depth} ({type(model.blocks[self.layer - 1].layer).__name__})"
        return f"{_OF[self.during]} {name}"


class _Watched(eqx.Module):
    """A block whose state says whether its outputs were finite."""

    block: Any

    @property
    def is_causal(self) -> bool:
        return self.block.is_causal

    @property
    def pool_steps(self) -> int:
        return self.block.pool_steps

    def __call__(self, x: Array, state: Any = None, **more: Any) -> tuple[Array, Any]:
        y, _ = self.block(x, state, **more)
        return y, (jnp.isfinite(x).all(), jnp.isfinite(y).all())


def origin(model: Network, task: Task, rows: Examples, key: Array | None, activations: Activations) -> Origin:
    """Return where the loss or the gradient of a batch first is not finite, in the order in which they are computed.

    Args:
        model: with the weights before the step.
        task: the task.
        rows: the batch of that step.
        key: of its dropout.
        activations: as in training.
    """
    depth = len(model.blocks)
    weights = _finite_parts(model)
    if not all(weights):
        return Origin(weights.index(False), "weights")

    @eqx.filter_jit
    def forward(model: Network, rows: Examples) -> Any:
        watched = with_activations(model, activations)
        watched = eqx.tree_at(lambda one: one.blocks, watched, tuple(map(_Watched, watched.blocks)))
        keys = None if key is None else jax.random.split(key, len(rows.inputs))
        axes = (0, None if rows.lengths is None else 0, None if keys is None else 0)
        run = jax.vmap(lambda x, length, one: outputs(watched, x, length, one), axes)
        y, flags = run(rows.inputs, rows.lengths, keys)
        return jnp.isfinite(y).all(), jax.tree.map(jnp.all, flags)

    head, flags = forward(model, rows)
    if not flags[0][0]:
        return Origin(0, "forward")
    for place, (_, after) in enumerate(flags, 1):
        if not after:
            return Origin(place, "forward")
    if not head:
        return Origin(depth + 1, "forward")

    value, gradient = eqx.filter_jit(eqx.filter_value_and_grad(loss_of(task, activations)))(model, rows, key)
    if not jnp.isfinite(value):
        return Origin(depth + 1, "loss")
    finite = _finite_parts(gradient)
    if all(finite):
        return Origin(-1, "")
    return Origin(depth + 1 - finite[::-1].index(False), "backward")  # gradients go from the head to the encoder


def _finite_parts(model: Network) -> list[bool]:
    """Whether everything is finite in the encoder, in each block and in the head."""

    def finite(part: Any) -> bool:
        leaves = jax.tree.leaves(eqx.filter(part, eqx.is_inexact_array))
        return all(bool(np.isfinite(np.asarray(leaf)).all()) for leaf in leaves)

    return [finite(part) for part in (model.encoder, *model.blocks, (model.norm, model.decoder))]
