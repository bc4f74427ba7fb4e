"""Searches for the worst perturbation of a size: from unit directions to what the model does there.

A search is a function (measure, sets, directions, betas) -> results. `measure(direction, beta)` is pure and
differentiable; `sets` are the pairs (perturbed blocks, ball) to be searched; `directions` holds unit directions of each
set, with leading axes (sets, repeat); the results have leading axes (sets, repeat, beta). A search that finds its own
directions starts from these and stays in the ball of the set; an exact one gives every repeat the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from stablessm.measurements.ascent import climb, steepest
from stablessm.measurements.balls import BALLS, blocks_of

Measure = Callable[[Mapping[str, Array], Array], Any]
Search = Callable[[Measure, Sequence[tuple[str, str]], Mapping[str, Array], Array], Any]


def sampled(measure: Measure, sets: Sequence[tuple[str, str]], directions: Mapping[str, Array], betas: Array) -> Any:
    """Measure along each of the given directions, as they are, at every size.

    Args:
        measure: (direction, beta) -> pytree of arrays.
        sets: the sets of the directions.
        directions: unit directions.
        betas: sizes, shape (betas,).

    Returns:
        What `measure` returns, with leading axes (sets, repeat, beta). One direction after the other, all sizes at
        once, so that the memory does not grow with the number of directions.
    """
    flat = jax.tree.map(lambda block: block.reshape(-1, block.shape[-1]), directions)
    found = jax.lax.map(lambda direction: jax.vmap(lambda beta: measure(direction, beta))(betas), flat)
    return jax.tree.map(lambda leaf: leaf.reshape(len(sets), -1, *leaf.shape[1:]), found)


def ascent(measure: Measure, sets: Sequence[tuple[str, str]], directions: Mapping[str, Array], betas: Array) -> Any:
    """Measure where projected gradient ascent ends, started from each of the given directions at every size.

    What climbs is the distance over the longest horizon; the sampled loss is measured there too, and not climbed by
    itself. Arguments and results as for `sampled`, the measure an `Errors`.
    """

    def of_set(perturbed: str, ball: str, starts: Mapping[str, Array]) -> Any:
        moving = {name: float(name in blocks_of(perturbed)) for name in starts}

        def toward(gradient: Mapping[str, Array]) -> dict[str, Array]:
            return steepest(gradient, moving, BALLS.index(ball))

        def at(start: Mapping[str, Array], beta: Array) -> Any:
            found = climb(lambda one: measure(one, beta).distance[-1], start, toward, steps=GRADIENTS)
            reached = measure(found[1], beta)
            own = measure(start, beta)  # the answer where it is infinitely far: nothing is climbed from there
            return jax.tree.map(
                lambda here, there: jnp.where(jnp.isfinite(own.distance[-1]), here, there), reached, own
            )

        return jax.lax.map(lambda start: jax.vmap(lambda beta: at(start, beta))(betas), starts)

    every = [
        of_set(*one, {name: block[number] for name, block in directions.items()}) for number, one in enumerate(sets)
    ]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *every)


GRADIENTS = 8  # of an ascent
SEARCHES: Mapping[str, Search] = MappingProxyType({"sampled": sampled, "ascent": ascent})
