"""A layer run forward and another run backward over the same series: what comes later counts as well."""

from __future__ import annotations

from typing import Any, Literal, NoReturn

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.bank import Bank
from stablessm.layers.base import Layer
from stablessm.layers.dlr import DLR
from stablessm.layers.everywhere import everywhere
from stablessm.layers.registry import inner_kind
from stablessm.layers.s4 import S4
from stablessm.parameterizations import Parameterization

Merge = Literal["sum", "project"]
MERGES: tuple[Merge, ...] = ("sum", "project")


class Bidirectional(Layer):
    r"""y_k = f_k + b_k, or P (f_k, b_k): f_k what one layer makes of u_0 .. u_k, b_k another of u_{L-1} .. u_{k+1}.

    The present input goes forward alone, so that it is not counted twice; behind the last step nothing has been seen,
    and b is 0 there. Of linear layers with kernels K and K'

        y_k = sum_{j <= k} K_j u_{k-j} + sum_{j >= 0} K'_j u_{k+1+j}.

    Every output depends on the whole series: there are no steps, and no state is handed on. A padded series is run with
    its `length`: the backward layer then begins at its last step, and not in the padding.

    Attributes:
        forward: the layer that runs with time.
        backward: the layer that runs against it, of weights of its own.
        projection: P; None for a sum.

    References: Schuster and Paliwal (1997); Gu et al., S4 (ICLR 2022), whose K' begins at u_k.
    """

    forward: Layer
    backward: Layer
    projection: eqx.nn.Linear | None

    def __init__(self, forward: Layer, backward: Layer, *, merge: Merge = "sum", key: Array | None = None) -> None:
        """Join two layers.

        Args:
            forward: a causal layer of series of features.
            backward: another one, of the same numbers of features.
            merge: "sum" or "project".
            key: PRNG key of P.

        Raises:
            ValueError: layers that look ahead themselves or do not fit, an unknown merge, a projection without a key.

        Example:
            >>> from stablessm import PARAMETERIZATIONS
            >>> one, two = (S4D(PARAMETERIZATIONS["exp"], -jnp.ones(4), inputs=3, key=k)
            ...             for k in jax.random.split(jax.random.key(0)))
            >>> Bidirectional(one, two)(jnp.ones((5, 3)), length=4)[0][4].tolist()
            [0.0, 0.0, 0.0]
        """
        if merge not in MERGES:
            raise ValueError(f"`merge` must be one of {', '.join(MERGES)}, but got {merge!r}")
        if not (forward.is_causal and backward.is_causal):
            raise ValueError("the two layers of a bidirectional one must not look ahead themselves")
        shapes = [(one.inputs, one.outputs) for one in (forward, backward)]
        if shapes[0] != shapes[1] or None in shapes[0]:
            raise ValueError(
                f"the two layers must take and give the same numbers of features, but got {shapes[0]} and {shapes[1]}"
            )
        if merge == "project" and key is None:
            raise ValueError("a projection is drawn: give a `key`")
        self.forward, self.backward = forward, backward
        size = forward.outputs
        self.projection = None if merge == "sum" else eqx.nn.Linear(2 * size, size, use_bias=False, key=key)

    @property
    def inputs(self) -> int:
        """Number of input features."""
        return self.forward.inputs

    @property
    def outputs(self) -> int:
        """Number of output features."""
        return self.forward.outputs

    @property
    def is_linear(self) -> bool:
        """Whether both layers are."""
        return self.forward.is_linear and self.backward.is_linear

    @property
    def is_causal(self) -> bool:
        """False: it looks ahead."""
        return False

    def eigenvalues(self) -> Array:
        """Return those of both layers, forward and backward, along a first axis of size 2."""
        return jnp.stack([self.forward.eigenvalues(), self.backward.eigenvalues()])

    def kernel(self, length: int) -> Array:
        """Return K_k, how u_{t-k} acts on y_t, for k < length: shape (length, outputs, inputs).

        Raises:
            ValueError: the layer is not linear, or the length is none.
        """
        return self._merged_kernel(self.forward.kernel(length), 0)

    def reverse_kernel(self, length: int) -> Array:
        """Return K'_k, how u_{t+1+k} acts on y_t, for k < length: shape (length, outputs, inputs).

        Raises:
            ValueError: the layer is not linear, or the length is none.
        """
        return self._merged_kernel(self.backward.kernel(length), 1)

    def initial_state(self) -> NoReturn:
        """Raise: there is none.

        Raises:
            ValueError: always.
        """
        raise ValueError(_NO_STEPS)

    def step(self, state: Any, x: Array) -> NoReturn:
        """Raise: an output waits for the whole series.

        Raises:
            ValueError: always.
        """
        raise ValueError(_NO_STEPS)

    def __call__(
        self, x: Array, state: tuple[()] | None = None, *, length: Array | int | None = None
    ) -> tuple[Array, tuple[()]]:
        """Run over a whole series.

        Args:
            x: shape (time, inputs); may be empty.
            state: none; an empty one is what is returned.
            length: number of steps that count, possibly traced; what stands behind them acts on nothing, and outputs
                there are 0. All by default.

        Returns:
            (y, ()): outputs of shape (time, outputs).

        Raises:
            ValueError: a state is handed in.
        """
        if state is not None and not (isinstance(state, tuple) and not state):
            raise ValueError("a bidirectional layer sees the whole series at once, and goes on from no state")
        steps = jnp.arange(len(x))
        counts = None if length is None else (steps < length)[:, None]
        x = x if counts is None else jnp.where(counts, x, 0)
        if self.projection is None and all(isinstance(one, Bank | S4 | DLR) for one in (self.forward, self.backward)):
            ahead, back = (one.channel_kernels(len(x)) for one in (self.forward, self.backward))
            y = engine.convolve(x.T, ahead, reverse_kernel=back).T  # one transform for both, and padding is 0
        else:
            y = self._merged(self.forward(x)[0], self._from_behind(x, steps, length))
        return y if counts is None else jnp.where(counts, y, 0), ()

    def _from_behind(self, x: Array, steps: Array, length: Array | int | None) -> Array:
        """b_k, from the backward layer's outputs at the last step but k + 1."""
        if length is None:
            y = self.backward(x[::-1])[0][::-1]
            return jnp.concatenate([y[1:], jnp.zeros_like(y[:1])])
        place = jnp.minimum(length, len(x)) - 1 - steps
        y = self.backward(x[jnp.maximum(place, 0)])[0]
        return jnp.where((place > 0)[:, None], y[jnp.maximum(place - 1, 0)], 0)

    def _merged(self, ahead: Array, back: Array) -> Array:
        if self.projection is None:
            return ahead + back
        return everywhere(self.projection, jnp.concatenate([ahead, back], axis=-1))

    def _merged_kernel(self, kernel: Array, half: int) -> Array:
        if self.projection is None:
            return kernel
        matrix = jnp.split(self.projection.weight, 2, axis=1)[half]
        return jnp.einsum("om,kmi->koi", matrix, kernel, precision=jax.lax.Precision.HIGHEST)


_NO_STEPS = "a bidirectional layer looks ahead to the end of a series, so that it has no steps"


def bidirectional(
    parameterization: Parameterization,
    eigenvalues: ArrayLike,
    *,
    inputs: int,
    layer: str = "s4d",
    merge: Merge = "sum",
    key: Array,
    **more: Any,
) -> Bidirectional:
    """Return a bidirectional layer, both directions of one kind and starting at the same eigenvalues.

    Args:
        parameterization: the map of both.
        eigenvalues: of each direction, as its kind takes them.
        inputs: number of features in and out.
        layer: kind of both, a key of `LAYERS` with a map.
        merge: "sum" or "project".
        key: PRNG key of the other weights, which are drawn for each direction.
        **more: what that kind takes beyond this.

    Raises:
        ValueError: the kind does not fit, or what it says of its arguments.
    """
    kind = inner_kind("layer", layer)
    keys = jax.random.split(key, 3)
    one, two = (kind.build(parameterization, eigenvalues, inputs=inputs, key=own, **more) for own in keys[:2])
    return Bidirectional(one, two, merge=merge, key=keys[2])
