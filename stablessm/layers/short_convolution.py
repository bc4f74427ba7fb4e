"""A short convolution: each feature filtered by a few taps of its own, as in front of gated layers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from stablessm import engine
from stablessm.engine.length import whole
from stablessm.layers.base import Layer


class ShortConvolution(Layer):
    """y_k = sum_{j < taps} K_j u_{k-j} for each feature on its own.

    It is the shift system of H3, whose state holds the last inputs, with its readout K. K = (1, 0, ...) leaves a
    feature as it is.

    Attributes:
        taps: K, shape (features, taps).

    References: Fu et al., Hungry Hungry Hippos (ICLR 2023); Poli et al., Hyena Hierarchy (ICML 2023).
    """

    taps: Array

    def __init__(self, *, inputs: int, taps: int = 3, key: Array) -> None:
        """Make a layer.

        Args:
            inputs: number of features in and out.
            taps: steps that are seen, the own one among them.
            key: PRNG key of K ~ N(0, 1/taps).

        Raises:
            ValueError: there are no taps.

        Example:
            >>> ShortConvolution(inputs=4, key=jax.random.key(0))(jnp.ones((5, 4)))[0].shape
            (5, 4)
        """
        if not isinstance(taps, int) or taps < 1:
            raise ValueError(f"`taps` must be an integer of at least 1, but got {taps!r}")
        self.taps = jax.random.normal(key, (inputs, taps)) / taps**0.5

    @property
    def inputs(self) -> int:
        """Number of features."""
        return self.taps.shape[0]

    @property
    def outputs(self) -> int:
        """Number of features."""
        return self.taps.shape[0]

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    def eigenvalues(self) -> Array:
        """Return none, shape (0,): nothing is fed back."""
        return jnp.zeros(0)

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, shape (length, features, features): diagonal, 0 beyond the taps."""
        size = whole(length)
        kept = self.taps[:, :size]
        return jax.vmap(jnp.diag, in_axes=-1)(jnp.pad(kept, ((0, 0), (0, size - kept.shape[1]))))

    def initial_state(self) -> Array:
        """Return zeros for the inputs before the first one, shape (taps - 1, features), the latest one last."""
        return jnp.zeros((self.taps.shape[1] - 1, self.taps.shape[0]), self.taps.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: the inputs before this one, shape (taps - 1, features).
            x: shape (features,).
        """
        seen = jnp.concatenate([state, x[None]])
        return seen[1:], (seen[::-1].T * self.taps).sum(-1)

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, features); may be empty.
            state: the inputs before the first one; zero by default.

        Returns:
            (y, state): outputs of shape (time, features), and the last taps - 1 inputs.
        """
        state = self.initial_state() if state is None else state
        return engine.short_convolve(x, self.taps, state), jnp.concatenate([state, x])[len(x) :]
