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
from jax import Array

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


SEARCHES: Mapping[str, Search] = MappingProxyType({"sampled": sampled})
