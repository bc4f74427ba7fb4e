"""A plain stack of layers with a linear readout: the multi-layer model of Eq. 2, of any layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm import engine
from stablessm.layers import Layer

_EXACT = jax.lax.Precision.HIGHEST


class Stack(Layer):
    """y = C y^(L), y^(0) = x, y^(l) what layer l makes of y^(l-1); without a readout y = y^(L).

    It has the interface of a layer, so that a stack can stand in a stack. Its state is the tuple of the layers' states.

    Attributes:
        layers: the layers, the first one next to the input.
        readout: C, shape (outputs, features of the last layer); None for none.
        scalar: whether series are scalar, without an axis of features.

    References: Wang and Li, StableSSM (ICML 2024), Eq. 2.
    """

    layers: tuple[Layer, ...]
    readout: Array | None
    scalar: bool = eqx.field(static=True)

    def __init__(self, layers: Sequence[Layer], *, readout: Array | None = None, scalar: bool = False) -> None:
        """Stack layers.

        Args:
            layers: at least one; each takes as many features as the one before gives.
            readout: C, shape (outputs, features of the last layer).
            scalar: whether series are scalar: the stack then has one input and one output.

        Raises:
            ValueError: layers that do not fit each other, or a readout that does not fit the last.

        Example:
            >>> from stablessm import PARAMETERIZATIONS
            >>> from stablessm.layers import SSM
            >>> keys = jax.random.split(jax.random.key(0), 2)
            >>> best, decays = PARAMETERIZATIONS["best"], jnp.array([0.1, 0.5])
            >>> layers = [SSM(best, -decays, time="continuous", inputs=n, key=k) for n, k in zip((1, 2), keys)]
            >>> Stack(layers, readout=jnp.ones((1, 2)), scalar=True)(jnp.ones(5))[0].shape
            (5,)
        """
        self.layers, self.readout, self.scalar = tuple(layers), readout, scalar
        if not self.layers:
            raise ValueError("`layers` must hold at least one layer, but got none")
        for place, (below, above) in enumerate(zip(self.layers, self.layers[1:], strict=False)):
            if below.outputs is None or below.outputs != above.inputs:
                raise ValueError(
                    f"layer {place + 1} takes {_count(above.inputs)}, but layer {place} gives {_count(below.outputs)}"
                )
        last = self.layers[-1].outputs
        if readout is not None and (readout.ndim != 2 or readout.shape[1] != last):
            raise ValueError(f"`readout` must have the shape (outputs, {last}), but got {readout.shape}")
        ends = self.layers[0].inputs, last if readout is None else readout.shape[0]
        if scalar and ends != (1, 1):
            raise ValueError(
                f"a stack of scalar series has one input and one output, but got {_count(ends[0])} and "
                f"{_count(ends[1])}"
            )

    @property
    def inputs(self) -> int | None:
        """Number of input features; None for a scalar series."""
        return None if self.scalar else self.layers[0].inputs

    @property
    def outputs(self) -> int | None:
        """Number of output features; None for a scalar series."""
        if self.scalar:
            return None
        return self.layers[-1].outputs if self.readout is None else self.readout.shape[0]

    @property
    def is_linear(self) -> bool:
        """Whether every layer is."""
        return all(layer.is_linear for layer in self.layers)

    @property
    def is_causal(self) -> bool:
        """Whether every layer is."""
        return all(layer.is_causal for layer in self.layers)

    def eigenvalues(self) -> Array:
        """Return the eigenvalues of all layers, in one axis (`layers[l].eigenvalues()` has those of one)."""
        return jnp.concatenate([layer.eigenvalues().ravel() for layer in self.layers])

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, shape (length, outputs, inputs), or (length,) for a scalar series.

        The kernels of the layers convolved with each other.

        Args:
            length: number of steps, at least 0.

        Raises:
            ValueError: a layer is not linear, or the length is none.
        """
        whole = self.layers[0].kernel(length)
        for layer in self.layers[1:]:
            own = layer.kernel(length)
            below, above = jnp.moveaxis(whole, 0, -1)[None], jnp.moveaxis(own, 0, -1)[:, :, None]
            whole = jnp.moveaxis(engine.convolve(below, above).sum(1), -1, 0)
        if self.readout is not None:
            whole = jnp.einsum("om,kmi->koi", self.readout, whole, precision=_EXACT)
        return whole[:, 0, 0] if self.scalar else whole

    def initial_state(self) -> tuple[Any, ...]:
        """Return the initial states of the layers."""
        return tuple(layer.initial_state() for layer in self.layers)

    def step(self, state: tuple[Any, ...], x: Array) -> tuple[tuple[Any, ...], Array]:
        """Advance every layer by one step.

        Args:
            state: those of the layers.
            x: input, shape (inputs,), or scalar.

        Returns:
            (state, y): y of shape (outputs,), or scalar.
        """
        y, states = x[None] if self.scalar else x, []
        for layer, own in zip(self.layers, state, strict=True):
            own, y = layer.step(own, y)
            states.append(own)
        return tuple(states), self._read(y)

    def __call__(
        self, x: Array, state: tuple[Any, ...] | None = None, *, length: Array | int | None = None
    ) -> tuple[Array, tuple[Any, ...]]:
        """Run over a series, layer by layer.

        Args:
            x: shape (time, inputs), or (time,) for a scalar series; may be empty.
            state: those of the layers before the first step; the initial ones by default.
            length: number of steps that count, for layers that look ahead; all by default.

        Returns:
            (y, state): outputs of shape (time, outputs), or (time,), and the states after the last step.
        """
        y, states = x[:, None] if self.scalar else x, []
        for layer, own in zip(self.layers, state or (None,) * len(self.layers), strict=True):
            y, own = layer(y, own, **({} if layer.is_causal else {"length": length}))
            states.append(own)
        return self._read(y), tuple(states)

    def _read(self, y: Array) -> Array:
        if self.readout is not None:
            y = jnp.einsum("...m,om->...o", y, self.readout, precision=_EXACT)
        return y[..., 0] if self.scalar else y


def _count(features: int | None) -> str:
    return "a scalar series" if features is None else f"{features} feature{'s' * (features != 1)}"
