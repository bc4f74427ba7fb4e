"""What every layer offers, so that a stack, a measurement or a trainer can take any of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
from jax import Array


class Layer(eqx.Module):
    """A map of series, with a state.

    A series has the shape (time, features); there is no batch axis, callers vmap. Running over a series equals
    stepping through it, and going on from a returned state equals one pass. Layers are causal but for those that say
    otherwise: they have no steps, and take the `length` of a padded series in their full pass (`Bidirectional`).
    """

    @property
    @abstractmethod
    def inputs(self) -> int | None:
        """Number of input features; None for a scalar series, which has no axis of features."""

    @property
    @abstractmethod
    def outputs(self) -> int | None:
        """Number of output features; None for a scalar series."""

    @property
    @abstractmethod
    def is_linear(self) -> bool:
        """Whether the outputs are linear in the inputs but for a bias, so that there is a kernel."""

    @property
    def is_causal(self) -> bool:
        """Whether no output depends on later inputs."""
        return True

    @abstractmethod
    def eigenvalues(self) -> Array:
        """Return the eigenvalues of the recurrence; shape (0,) of a layer without one."""

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return its own weights that are for something special: "recurrent" those of its poles, "step" of step sizes.

        Those that are "frozen" stay as they are. An optimiser may treat them otherwise than the rest (`layers.roles`).
        None stands for a weight it does not have.
        """
        return {}

    @abstractmethod
    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, shape (length, outputs, inputs), or (length,) for a scalar series.

        Raises:
            ValueError: the layer is not linear, or the length is none.
        """

    @abstractmethod
    def initial_state(self) -> Any:
        """Return the state before the first step of a series."""

    @abstractmethod
    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """Return (state, y): the state after one input and the output read from it."""

    @abstractmethod
    def __call__(self, x: Array, state: Any = None) -> tuple[Array, Any]:
        """Return (y, state): the outputs of a series and the state after its last step.

        Args:
            x: shape (time, inputs), or (time,) for a scalar series; may be empty.
            state: before the first step; the initial one by default.
        """
