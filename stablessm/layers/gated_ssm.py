"""A gated block whose recurrence is a state-space layer, as H3 and the Hyena block of published runs are."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm.layers.base import Layer
from stablessm.layers.everywhere import everywhere
from stablessm.layers.registry import inner_kind
from stablessm.layers.short_convolution import ShortConvolution
from stablessm.parameterizations import Parameterization


class GatedState(NamedTuple):
    """What a gated block remembers.

    Attributes:
        short: the last projected inputs, shape (taps - 1, 3 inputs).
        recurrence: the state of the recurrence.
    """

    short: Array
    recurrence: Any


class GatedSSM(Layer):
    """y = W_o (q * R(k * v)), (q, k, v) a short convolution of W u, * elementwise and R a layer with a map.

    Queries, keys and values are as in linear attention: a key that comes with a value decides what R takes in, a query
    what is read of it. H3 is the case in which the short convolution leaves q and v as they are.

    Attributes:
        projection: W, to queries, keys and values.
        short: convolution of all three.
        recurrence: R.
        output: W_o.

    References: Fu et al., Hungry Hungry Hippos (ICLR 2023); Poli et al., Hyena Hierarchy (ICML 2023).
    """

    projection: eqx.nn.Linear
    short: ShortConvolution
    recurrence: Layer
    output: eqx.nn.Linear

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        recurrence: str = "s5",
        taps: int = 3,
        key: Array,
        **more: Any,
    ) -> None:
        """Make a block whose recurrence starts at given eigenvalues.

        Args:
            parameterization: the map of the recurrence.
            eigenvalues: of the recurrence, as its kind takes them.
            inputs: number of features in and out.
            recurrence: kind of R, a key of `LAYERS` with a map, as many features out as in, and no look ahead.
            taps: steps the short convolution sees.
            key: PRNG key of the weights, the same for every map.
            **more: what that kind takes beyond this.

        Raises:
            ValueError: the kind does not fit, or what it says of its arguments.

        Example:
            >>> from stablessm import PARAMETERIZATIONS
            >>> layer = GatedSSM(PARAMETERIZATIONS["exp"], -jnp.ones(4), inputs=6, key=jax.random.key(0))
            >>> layer(jnp.ones((5, 6)))[0].shape
            (5, 6)
        """
        kind = inner_kind("recurrence", recurrence)
        keys = jax.random.split(key, 4)
        self.projection = eqx.nn.Linear(inputs, 3 * inputs, use_bias=False, key=keys[0])
        self.short = ShortConvolution(inputs=3 * inputs, taps=taps, key=keys[1])
        self.recurrence = kind.build(parameterization, eigenvalues, inputs=inputs, key=keys[2], **more)
        if self.recurrence.outputs != inputs:
            raise ValueError(
                f"`recurrence` must give as many features as it takes, but {recurrence!r} takes {inputs} and gives "
                f"{self.recurrence.outputs}"
            )
        self.output = eqx.nn.Linear(inputs, inputs, use_bias=False, key=keys[3])

    @property
    def inputs(self) -> int:
        """Number of features."""
        return self.output.in_features

    @property
    def outputs(self) -> int:
        """Number of features."""
        return self.output.out_features

    @property
    def is_linear(self) -> bool:
        """False: gates multiply."""
        return False

    def eigenvalues(self) -> Array:
        """Return those of the recurrence."""
        return self.recurrence.eigenvalues()

    def kernel(self, length: int) -> Array:
        """Raise: there is none; `recurrence.kernel` is that of the recurrence.

        Raises:
            ValueError: always.
        """
        raise ValueError("a gated block is not linear, so that it has no kernel; its `recurrence` may have one")

    def initial_state(self) -> GatedState:
        """Return the state before anything was seen."""
        return GatedState(self.short.initial_state(), self.recurrence.initial_state())

    def step(self, state: GatedState, x: Array) -> tuple[GatedState, Array]:
        """Advance by one step.

        Args:
            state: of the short convolution and the recurrence.
            x: shape (inputs,).
        """
        short, projected = self.short.step(state.short, self.projection(x))
        query, key, value = jnp.split(projected, 3)
        inner, y = self.recurrence.step(state.recurrence, key * value)
        return GatedState(short, inner), self.output(query * y)

    def __call__(self, x: Array, state: GatedState | None = None) -> tuple[Array, GatedState]:
        """Run over a series.

        Args:
            x: shape (time, inputs); may be empty.
            state: of the short convolution and the recurrence; the initial one by default.

        Returns:
            (y, state): outputs of shape (time, inputs), and the state after the last step.
        """
        short, inner = (None, None) if state is None else state
        projected, short = self.short(everywhere(self.projection, x), short)
        query, key, value = jnp.split(projected, 3, axis=-1)
        y, inner = self.recurrence(key * value, inner)
        return everywhere(self.output, query * y), GatedState(short, inner)
