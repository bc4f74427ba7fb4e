"""Perturbations of a linear RNN: its blocks of weights, balls of size beta around them, and directions in those.

A direction holds one array of shape (states,) for each block, zero where the block is not perturbed, and has size 1 in
its ball; the perturbed weights are theta + beta direction.

| ball     | size of a perturbation                                                              |
|----------|-------------------------------------------------------------------------------------|
| inf      | largest entry of any block: what the published runs scale, block by block            |
| block_l2 | largest 2-norm of any block: the |theta|_2 of the definition of stable approximation |
| l2       | 2-norm of all perturbed weights together                                             |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers import LinearRNN
from stablessm.measurements.draws import normal
from stablessm.measurements.perturbation import BLOCKS

Direction = Mapping[str, Array]
BALLS = ("inf", "block_l2", "l2")

_BLOCKS: Mapping[str, Callable[[LinearRNN], Array]] = {
    "recurrent": lambda model: model.weight,
    "input": lambda model: model.input_weight,
    "readout": lambda model: model.readout,
    "bias": lambda model: model.bias,
}
_NORMS: Mapping[str, Callable[[Array], Array]] = {
    "inf": lambda block: jnp.abs(block).max(),
    "block_l2": jnp.linalg.norm,
    "l2": jnp.linalg.norm,
}


def random_directions(key: Array, repeats: Sequence[int], states: int) -> dict[str, Array]:
    """Return independent N(0, 1) entries for every block of a scalar model, each of shape (repeats, states).

    Args:
        key: PRNG key.
        repeats: numbers of the directions; each direction depends on the key and its own number.
        states: entries of a block.
    """
    keys = jax.vmap(lambda repeat: jax.random.fold_in(key, repeat))(jnp.asarray(repeats, jnp.uint32))
    entries = jax.vmap(lambda one: normal(one, (len(BLOCKS), states)))(keys)
    return {name: entries[:, place] for place, name in enumerate(BLOCKS)}


def blocks_of(perturbed: str) -> tuple[str, ...]:
    """Return the names of the blocks that "recurrent", "input", "readout", "bias" or "all" stands for."""
    return BLOCKS if perturbed == "all" else (perturbed,)


def size(direction: Direction, ball: str) -> Array:
    """Return the size of a perturbation in the norm of a ball."""
    norms = jnp.stack([_NORMS[ball](block) for block in direction.values()])
    return jnp.linalg.norm(norms) if ball == "l2" else norms.max()


def on_sphere(direction: Direction, perturbed: str, ball: str) -> dict[str, Array]:
    """Return a direction with its perturbed blocks scaled to size 1 and the others set to 0.

    In the inf and the block_l2 ball every block is scaled by itself, so that all of them reach the sphere.

    Args:
        direction: entries of every block that there is, none of them zero.
        perturbed: as for `blocks_of`.
        ball: "inf", "block_l2" or "l2".
    """
    part = {name: direction[name] for name in blocks_of(perturbed) if name in direction}
    whole = size(part, ball)
    norms = {name: whole if ball == "l2" else _NORMS[ball](block) for name, block in part.items()}
    return {name: block / norms[name] if name in part else 0 * block for name, block in direction.items()}


def moved(model: LinearRNN, direction: Direction, beta: Array) -> LinearRNN:
    """Return the model with beta times a direction added to its weights; the other blocks stay as they are."""
    names = tuple(direction)

    def where(one: LinearRNN) -> tuple[Array, ...]:
        return tuple(_BLOCKS[name](one) for name in names)

    new = [block + beta * direction[name].reshape(block.shape) for name, block in zip(names, where(model), strict=True)]
    return eqx.tree_at(where, model, tuple(new))
