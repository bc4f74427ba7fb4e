"""Layers without eigenvalues: what state-space layers are compared with."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers.base import Layer


class Baseline(Layer):
    """A layer that has no eigenvalues, no kernel, and as many features out as in."""

    @property
    def outputs(self) -> int | None:
        """Number of features."""
        return self.inputs

    @property
    def is_linear(self) -> bool:
        """False."""
        return False

    def eigenvalues(self) -> Array:
        """Return none: shape (0,)."""
        return jnp.zeros(0)

    def kernel(self, length: int) -> Array:
        """Raise: there is none.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{type(self).__name__} is not linear, so that it has no kernel")


class LSTM(Baseline):
    """A long short-term memory; its output is its hidden state.

    Attributes:
        cell: Equinox's cell.

    References: Hochreiter and Schmidhuber, Long Short-Term Memory (1997).
    """

    cell: eqx.nn.LSTMCell

    def __init__(self, *, inputs: int, key: Array) -> None:
        """Make a layer.

        Args:
            inputs: number of features in and out.
            key: PRNG key of the weights.

        Example:
            >>> LSTM(inputs=4, key=jax.random.key(0))(jnp.ones((5, 4)))[0].shape
            (5, 4)
        """
        self.cell = eqx.nn.LSTMCell(inputs, inputs, key=key)

    @property
    def inputs(self) -> int:
        """Number of features."""
        return self.cell.input_size

    def initial_state(self) -> tuple[Array, Array]:
        """Return hidden state and cell state, both zero."""
        nothing = jnp.zeros(self.inputs, self.cell.weight_ih.dtype)
        return nothing, nothing

    def step(self, state: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
        """Advance by one step.

        Args:
            state: hidden state and cell state.
            x: shape (inputs,).
        """
        state = self.cell(x, state)
        return state, state[0]

    def __call__(self, x: Array, state: tuple[Array, Array] | None = None) -> tuple[Array, tuple[Array, Array]]:
        """Run over a series, a step after the other.

        Args:
            x: shape (time, inputs); may be empty.
            state: hidden state and cell state; zero by default.
        """
        begun = self.initial_state() if state is None else state
        state, y = jax.lax.scan(lambda state, one: self.step(state, one), begun, x)
        return y, state


class FeedForward(Baseline):
    """The same network of one hidden layer at every step: no memory at all.

    Attributes:
        network: Equinox's network.
    """

    network: eqx.nn.MLP

    def __init__(self, *, inputs: int, expansion: float = 4, key: Array) -> None:
        """Make a layer.

        Args:
            inputs: number of features in and out.
            expansion: hidden features for each of them, rounded to a number of them in all.
            key: PRNG key of the weights.

        Raises:
            ValueError: no hidden features.

        Example:
            >>> FeedForward(inputs=4, key=jax.random.key(0))(jnp.ones((5, 4)))[0].shape
            (5, 4)
        """
        hidden = round(expansion * inputs)
        if hidden < 1:
            raise ValueError(f"`expansion` must give a hidden feature, but got {expansion} for {inputs} features")
        self.network = eqx.nn.MLP(inputs, inputs, hidden, 1, activation=jax.nn.gelu, key=key)

    @property
    def inputs(self) -> int:
        """Number of features."""
        return self.network.in_size

    def initial_state(self) -> tuple[()]:
        """Return the state of a layer that remembers nothing."""
        return ()

    def step(self, state: tuple[()], x: Array) -> tuple[tuple[()], Array]:
        """Return the network's output.

        Args:
            state: none.
            x: shape (inputs,).
        """
        return state, self.network(x)

    def __call__(self, x: Array, state: tuple[()] | None = None) -> tuple[Array, tuple[()]]:
        """Run over a series.

        Args:
            x: shape (time, inputs); may be empty.
            state: none.
        """
        return jax.vmap(self.network)(x), ()
