"""Layer norms over the features of a step: a gain and a shift for each feature, or one of both for all of them."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jax import Array


class ScalarLayerNorm(eqx.Module):
    """gain (x - mean x)/std x + shift, one trained gain and one shift for all features.

    Attributes:
        gain: scalar, 1 at the start.
        shift: scalar, 0 at the start.

    References: Gupta, Mehta and Berant, Simplifying and Understanding State Space Models with Diagonal Linear RNNs
        (2022), its published code.
    """

    gain: Array
    shift: Array
    _unit: eqx.nn.LayerNorm

    def __init__(self, width: int) -> None:
        """Make one.

        Args:
            width: number of features.

        Example:
            >>> ScalarLayerNorm(2)(jnp.array([1.0, 3.0])).round(2).tolist()
            [-1.0, 1.0]
        """
        self.gain, self.shift = jnp.ones(()), jnp.zeros(())
        self._unit = eqx.nn.LayerNorm(width, use_weight=False, use_bias=False)

    def __call__(self, x: Array) -> Array:
        """Return the normed features.

        Args:
            x: shape (width,).
        """
        return self.gain * self._unit(x) + self.shift


LayerNorm = eqx.nn.LayerNorm | ScalarLayerNorm


def layer_norm(width: int, *, scalar: bool) -> LayerNorm:
    """Return a layer norm.

    Args:
        width: number of features.
        scalar: whether all features share one gain and one shift.
    """
    return ScalarLayerNorm(width) if scalar else eqx.nn.LayerNorm(width)
