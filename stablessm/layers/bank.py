"""A bank of modes for every channel: what the diagonal layers of one input and one output a channel share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm import engine
from stablessm.layers.roles import grouped
from stablessm.layers.stepping import Stepped, Stepping


class Bank(Stepped):
    """y_k = Re sum_n r_n h_n,k + D u_k for each channel on its own, h_k = lambda_bar h_{k-1} + u_k.

    Attributes:
        feedthrough: D, shape (channels,).
        frozen: parts that are not trained, of "eigenvalues", "step" and, where there is a B of its own, "drive".
    """

    feedthrough: eqx.AbstractVar[Array]
    frozen: eqx.AbstractVar[tuple[str, ...]]

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return weight and frequency as "recurrent", the weight of the step size as "step", and what is "frozen"."""
        drive = getattr(self, "input_weight", None)
        parts = {"eigenvalues": (self.weight, self.frequency), "step": (self.step_weight,)}
        parts |= {} if drive is None else {"drive": (drive,)}
        return grouped(parts, self.frozen, recurrent=("eigenvalues",))

    @abstractmethod
    def read(self, stepped: Stepping) -> Array:
        """Return r, what the state is read with where the input goes to it as it is, shape (channels, modes)."""

    @property
    def inputs(self) -> int:
        """Number of channels."""
        return self.weight.shape[0]

    @property
    def outputs(self) -> int:
        """Number of channels."""
        return self.weight.shape[0]

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, shape (length, channels, channels): diagonal, D in K_0 (see `channel_kernels`)."""
        return jax.vmap(jnp.diag, in_axes=-1)(self.channel_kernels(length))

    def channel_kernels(self, length: int) -> Array:
        """Return the kernel of each channel, D in its first value, shape (channels, length).

        Args:
            length: number of steps, at least 0.
        """
        stepped = self.discretised()
        kernels = engine.kernel(stepped.poles, self.read(stepped), length)
        return kernels.at[:, 0].add(self.feedthrough) if kernels.shape[-1] else kernels

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: of the modes, shape (channels, modes).
            x: input, shape (channels,).

        Returns:
            (state, y): y of shape (channels,).
        """
        stepped = self.discretised()
        state = stepped.multiplier * state + x[:, None]
        return state, (self.read(stepped) * state).real.sum(-1) + self.feedthrough * x

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, channels); may be empty.
            state: before the first step, shape (channels, modes); zero by default.

        Returns:
            (y, state): outputs of shape (time, channels), and the state after the last step.
        """
        stepped = self.discretised()
        y, state = engine.filter_bank(stepped.poles, self.read(stepped), x.T, state, gradient=True)
        return y.T + self.feedthrough * x, state
