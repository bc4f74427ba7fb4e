"""Activations in bfloat16 between layers that compute in float32: half the memory of what a gradient keeps."""

from __future__ import annotations

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers import Layer
from stablessm.models import Network

Activations = Literal["float32", "bfloat16"]


class _InFull(eqx.Module):
    """A layer whose inputs and outputs are of another precision than its states, eigenvalues and powers."""

    layer: Layer
    wide: Any = eqx.field(static=True)

    @property
    def is_causal(self) -> bool:
        return self.layer.is_causal

    def __call__(self, x: Array, state: Any = None, **more: Any) -> tuple[Array, Any]:
        y, state = self.layer(x.astype(self.wide), state, **more)
        return y.astype(x.dtype), state


def with_activations(model: Network, activations: Activations) -> Network:
    """Return a network whose features are held in a precision; weights stay as they are where they are trained.

    Encoder, mixing and decoder multiply in bfloat16, norms and means add up in float32 as Equinox and JAX do, and the
    layers, their eigenvalues and recurrences, compute in the precision of their weights.

    Args:
        model: a network of float32 (or float64) weights.
        activations: "float32" leaves it as it is.
    """
    if activations == "float32":
        return model

    def narrow(part: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16) if eqx.is_inexact_array(leaf) else leaf, part)

    def parts(one: Network) -> list[Any]:
        mixing = [block.mixing for block in one.blocks if block.mixing is not None]
        return [one.encoder, *mixing, one.decoder]

    wide = model.decoder.weight.dtype
    model = eqx.tree_at(parts, model, [narrow(part) for part in parts(model)])
    layers = [_InFull(block.layer, wide) for block in model.blocks]
    return eqx.tree_at(lambda one: [block.layer for block in one.blocks], model, layers)
