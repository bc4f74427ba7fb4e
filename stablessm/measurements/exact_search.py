"""The largest change of one model that was found, by ascent and at random, and the bounds above it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from stablessm.measurements.ascent import climb, steepest
from stablessm.measurements.balls import BALLS, on_sphere
from stablessm.measurements.mode_bounds import Decay, Modes, box_bound, reach, round_bound
from stablessm.measurements.mode_norms import NORMS, Nodes, kernel, norms

BLOCKS = ("recurrent", "input", "readout")
Direction = Mapping[str, Array]


class Sets(NamedTuple):
    """What is searched.

    Attributes:
        perturbed: blocks that move, "all" for all three.
        ball: names of balls.
        norm: names of norms.
        beta: sizes.
        starts: how many of the random directions the ascent starts from.
        ascents: gradients of each ascent.
    """

    perturbed: Sequence[str]
    ball: Sequence[str]
    norm: Sequence[str]
    beta: Sequence[float]
    starts: int
    ascents: int


def errors_of(
    decay: Decay, nodes: Nodes, modes: Modes, directions: Direction, sets: Sets, *, infinite: bool
) -> dict[str, Array]:
    """Return found, sampled and bound, each of shape (perturbed, ball, norm, beta).

    Args:
        decay: s(w).
        nodes: a quadrature of the horizon.
        modes: the model.
        directions: random entries of each block, leading axis of directions.
        sets: what is searched.
        infinite: whether the horizon is: then an unstable mode is an infinite error.
    """
    alive = (modes.input != 0) | (modes.readout != 0)
    directions = {name: jnp.where(alive, directions[name], 0) for name in BLOCKS}
    own = kernel(nodes, decay(modes.recurrent), modes.input * modes.readout)
    betas = jnp.asarray(sets.beta, modes.recurrent.dtype)
    chosen = jnp.asarray([NORMS.index(one) for one in sets.norm])

    def change(direction: Direction, beta: Array) -> Array:
        w, u, c = (weight + beta * direction[name] for name, weight in zip(BLOCKS, modes, strict=True))
        moved = decay(w)
        found = norms(nodes, *(one - two for one, two in zip(kernel(nodes, moved, c * u), own, strict=True)))
        return jnp.where(infinite & (alive & (moved <= 0)).any(), jnp.inf, found)

    moving = jnp.asarray([[float(one in (name, "all")) for name in BLOCKS] for one in sets.perturbed], betas.dtype)

    def explodes(part: Array) -> Array:
        low, _ = jax.vmap(lambda beta: reach(decay, modes.recurrent, beta * part[0]))(betas)
        return infinite & (alive & (low <= 0)).any(-1)

    exploded = jax.vmap(explodes)(moving)[:, None, None, :]
    sampled = _sampled(change, directions, sets, betas)[:, :, chosen]
    climbed = _climbed(change, decay, modes, alive, directions, sets, betas, moving)
    bound = _bounds(decay, nodes, modes, sets, betas, moving)[:, :, chosen]
    found = jax.lax.cummax(jnp.maximum(climbed, sampled), axis=3)
    return {
        "perturbation_error": jnp.where(exploded, jnp.inf, found),
        "perturbation_error_bound": jnp.where(exploded, jnp.inf, bound),
        "sampled_perturbation_error": sampled,
    }


def _sampled(change: Callable[..., Array], directions: Direction, sets: Sets, betas: Array) -> Array:
    """Running maximum over random directions on the sphere, shape (perturbed, ball, norms, beta)."""
    every = [
        jax.vmap(lambda one, perturbed=perturbed, ball=ball: on_sphere(one, perturbed, ball))(directions)
        for perturbed, ball in product(sets.perturbed, sets.ball)
    ]
    flat = jax.tree.map(lambda *blocks: jnp.concatenate(blocks), *every)
    flat = {name: jnp.nan_to_num(block) for name, block in flat.items()}  # a model without modes has no directions
    found = jax.lax.map(lambda one: jax.vmap(lambda beta: change(one, beta))(betas), flat)
    found = found.reshape(len(sets.perturbed), len(sets.ball), -1, *found.shape[1:]).max(2)
    return jax.lax.cummax(found, axis=2).swapaxes(2, 3)


def _climbed(
    change: Callable[..., Array], decay: Decay, modes: Modes, alive: Array, directions: Direction, sets: Sets,
    betas: Array, moving: Array,
) -> Array:  # fmt: skip
    """Largest values of ascents from every start, shape (perturbed, ball, norm, beta)."""
    slowest = jnp.arange(len(alive)) == jnp.argmin(jnp.where(alive, decay(modes.recurrent), jnp.inf))
    outward = {"input": jnp.sign(modes.input), "readout": jnp.sign(modes.readout)}

    def search(place: Array) -> Array:
        which, size = jnp.unravel_index(place, (len(corners), len(betas)))
        part, ball, norm = (jnp.asarray(column)[which] for column in zip(*corners, strict=True))
        beta, masks = betas[size], dict(zip(BLOCKS, moving[part], strict=True))
        slower = jnp.where(decay(modes.recurrent + beta) < decay(modes.recurrent - beta), 1.0, -1.0) * alive
        starts = [{"recurrent": slower, **outward}, {"recurrent": -slower, **outward}]
        starts.append({name: block * slowest for name, block in starts[0].items()})
        starts += [{name: directions[name][one] for name in BLOCKS} for one in range(sets.starts)]

        def toward(gradient: Direction) -> dict[str, Array]:
            return steepest(gradient, masks, ball)

        def value(direction: Direction) -> Array:
            return change(direction, beta)[norm]

        stacked = jax.tree.map(lambda *blocks: jnp.stack(blocks), *starts)
        return jax.vmap(lambda one: climb(value, toward(one), toward, steps=sets.ascents)[0])(stacked).max()

    corners = [
        (part, BALLS.index(ball), NORMS.index(norm))
        for part, ball, norm in product(range(len(sets.perturbed)), sets.ball, sets.norm)
    ]
    found = jax.lax.map(search, jnp.arange(len(corners) * len(betas)))
    return found.reshape(len(sets.perturbed), len(sets.ball), len(sets.norm), -1)


def _bounds(decay: Decay, nodes: Nodes, modes: Modes, sets: Sets, betas: Array, moving: Array) -> Array:
    """Upper bounds, shape (perturbed, ball, norms, beta)."""
    kinds = {"inf": box_bound, "block_l2": round_bound, "l2": round_bound}

    def every(bound: Callable[..., Array]) -> Array:
        return jax.lax.map(lambda part: jax.lax.map(lambda beta: bound(nodes, decay, modes, beta, part), betas), moving)

    known = {bound: every(bound) for bound in dict.fromkeys(kinds[ball] for ball in sets.ball)}
    return jnp.stack([known[kinds[ball]] for ball in sets.ball], axis=1).swapaxes(2, 3)
