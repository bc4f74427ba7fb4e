"""What a weight is for: recurrent, of the step size, frozen, or anything else. Optimisers group weights by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
from jax import Array

from stablessm.layers.base import Layer

REST = "rest"
FROZEN = "frozen"
FREEZABLE = ("eigenvalues", "low_rank", "drive", "step")


def grouped(
    parts: Mapping[str, Sequence[Array | None]], frozen: Sequence[str], *, recurrent: Sequence[str] = ()
) -> dict[str, tuple[Array | None, ...]]:
    """Return what a layer says of its weights, whose parts are trained or not.

    Args:
        parts: some of `FREEZABLE` -> weights.
        frozen: the parts that stay as they are: "frozen".
        recurrent: of the others, those that are "recurrent"; the step is "step", and what is left "rest".

    Raises:
        ValueError: a part that is not there.
    """
    for name in frozen:
        if name not in parts:
            raise ValueError(f"`frozen` must be some of {', '.join(parts)}, but got {name!r}")
    found: dict[str, tuple[Array | None, ...]] = {}
    for name, weights in parts.items():
        role = FROZEN if name in frozen else "recurrent" if name in recurrent else "step" if name == "step" else REST
        found[role] = (*found.get(role, ()), *weights)
    return found


def layers_of(model: Any) -> Iterator[Layer]:
    """Yield every layer inside of a model, and the model itself where it is one; outer ones first.

    Args:
        model: any pytree.
    """
    if isinstance(model, Layer):
        yield model

    def inner(node: Any) -> bool:
        return node is not model and isinstance(node, Layer)

    for node in jax.tree.leaves(model, is_leaf=inner):
        if inner(node):
            yield from layers_of(node)


def roles(model: Any) -> Any:
    """Return the role of every trained array, a pytree of the model's shape: what its layers say, else "rest".

    Args:
        model: any pytree of layers and other modules. What is no array of floats has no role: None.

    Example:
        >>> import jax.numpy as jnp
        >>> from stablessm import PARAMETERIZATIONS
        >>> from stablessm.layers import S4D
        >>> layer = S4D(PARAMETERIZATIONS["exp"], -jnp.ones(4), inputs=2, key=jax.random.key(0))
        >>> found = roles(layer)
        >>> found.weight, found.step_weight, found.readout
        ('recurrent', 'step', 'rest')
    """
    said = {
        id(weight): role
        for layer in layers_of(model)
        for role, weights in layer.roles().items()
        for weight in weights
        if weight is not None
    }
    return jax.tree.map(lambda leaf: said.get(id(leaf), REST), eqx.filter(model, eqx.is_inexact_array))
