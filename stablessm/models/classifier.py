"""A classifier of series: one linear RNN, its last state read out linearly."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from stablessm.layers import LinearRNN


class LinearRNNClassifier(eqx.Module):
    """Logits = readout of the last state of a linear RNN, plus a bias.

    Attributes:
        recurrent: the layer, with `outputs` equal to the number of classes.
        bias: shape (classes,).
    """

    recurrent: LinearRNN
    bias: Array

    def __call__(self, x: Array) -> Array:
        """Return the logits of a batch of series.

        Args:
            x: shape (batch, time, features).

        Returns:
            Logits of shape (batch, classes).
        """
        return self.recurrent.last_output(x) + self.bias


def classifier(recurrent: LinearRNN) -> LinearRNNClassifier:
    """Return the classifier on a layer, its bias at zero."""
    return LinearRNNClassifier(recurrent, jnp.zeros(recurrent.readout.shape[0], recurrent.readout.dtype))
