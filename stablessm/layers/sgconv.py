"""SGConv: one long filter for each channel, coarser and smaller the longer the lag."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.engine.length import whole
from stablessm.layers.base import Layer


class SGConv(Layer):
    r"""y = K * u + D u, K a row of pieces of d weights each: K^(i) = a^-i upsample(w^(i)) / Z.

    The pieces are d, d, 2d, 4d, ... lags long, d weights stretched linearly over each, so that the number of weights
    grows with the logarithm of the context. Lags from `context` on do not act: the filter is a finite one, and runs
    over series of any length. The state is the inputs the filter still sees, so that a step costs as much as the
    context is long.
    Z makes the norm of K over the context 1 in the mean at the start; published code divides by that of each filter.

    Attributes:
        weight: w, shape (channels, pieces, d).
        feedthrough: D, shape (channels,).
        context: lags of the filter.
        decay: a.

    References: Li, Cai, Zhang, Chen and Dey, What Makes Convolutional Models Great on Long Sequence Modeling?
        (ICLR 2023).
    """

    weight: Array
    feedthrough: Array
    context: int = eqx.field(static=True)
    decay: float = eqx.field(static=True)

    def __init__(self, *, inputs: int, context: int = 1024, size: int = 64, decay: float = 2.0, key: Array) -> None:
        """Make a layer.

        Args:
            inputs: number of channels in and out.
            context: lags of the filter.
            size: d, weights of a piece.
            decay: a, by how much each piece is smaller than the one before.
            key: PRNG key of w ~ N(0, 1) and D ~ N(0, 1).

        Raises:
            ValueError: a size below 1, or a decay that is none.

        Example:
            >>> SGConv(inputs=4, context=300, size=16, key=jax.random.key(0)).weight.shape
            (4, 6, 16)
        """
        for name, value in (("inputs", inputs), ("context", context), ("size", size)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"`{name}` must be an integer of at least 1, but got {value!r}")
        if not 0 < decay < np.inf:
            raise ValueError(f"`decay` must be a number above 0, but got {decay!r}")
        first, second = jax.random.split(key)
        pieces = 1 + max(0, int(np.ceil(np.log2(context / size))))
        self.weight = jax.random.normal(first, (inputs, pieces, size))
        self.feedthrough = jax.random.normal(second, (inputs,))
        self.context, self.decay = context, float(decay)

    @property
    def inputs(self) -> int:
        """Number of channels."""
        return len(self.feedthrough)

    @property
    def outputs(self) -> int:
        """Number of channels."""
        return len(self.feedthrough)

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    def eigenvalues(self) -> Array:
        """Return none, shape (0,): nothing is fed back."""
        return jnp.zeros(0)

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, D in K_0, shape (length, channels, channels): diagonal, 0 beyond the context."""
        size = whole(length)
        kept = self.channel_kernels(min(size, self.context))
        return jax.vmap(jnp.diag, in_axes=-1)(jnp.pad(kept, ((0, 0), (0, size - kept.shape[1]))))

    def channel_kernels(self, length: int) -> Array:
        """Return the filter of each channel, D in its first value, shape (channels, length).

        Args:
            length: number of lags, at most the context.
        """
        piece, low, high, share, size = self._places()
        below, above = self.weight[:, piece, low], self.weight[:, piece, high]
        filters = (below + share * (above - below)) * size
        return filters.at[:, 0].add(self.feedthrough)[:, :length]

    def initial_state(self) -> Array:
        """Return zeros for the inputs before the first one, shape (context - 1, channels), the latest one last."""
        return jnp.zeros((self.context - 1, self.inputs), self.weight.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step, a sum over the context.

        Args:
            state: the inputs before this one, shape (context - 1, channels).
            x: shape (channels,).
        """
        seen = jnp.concatenate([state, x[None]])
        taps = self.channel_kernels(self.context)
        return seen[1:], jnp.einsum("ck,kc->c", taps, seen[::-1], precision=jax.lax.Precision.HIGHEST)

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, channels); may be empty.
            state: the inputs before the first one; zero by default.

        Returns:
            (y, state): outputs of shape (time, channels), and the last context - 1 inputs.
        """
        taps = self.channel_kernels(min(len(x), self.context) if state is None else self.context)
        seen = x if state is None else jnp.concatenate([state, x])
        y = engine.convolve(seen.T, taps).T[len(seen) - len(x) :]
        whole_past = seen if state is not None else jnp.concatenate([self.initial_state(), x])
        return y, whole_past[len(whole_past) - self.context + 1 :]

    def _places(self) -> tuple[np.ndarray, ...]:
        """Where the weights of every lag stand: piece, the two weights between them, the share of the second, size."""
        pieces, size = self.weight.shape[1:]
        stretches = np.concatenate([[1], 2 ** np.arange(pieces - 1)])
        piece = np.repeat(np.arange(pieces), stretches * size)[: self.context]
        starts = np.concatenate([[0], np.cumsum(stretches * size)])
        stretch = stretches[piece]
        at = np.clip((np.arange(self.context) - starts[piece] + 0.5) / stretch - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        share, high = at - low, np.minimum(low + 1, size - 1)
        square = self.decay ** (-2.0 * piece) * ((1 - share) ** 2 + share**2)
        scale = self.decay ** (-1.0 * piece) / np.sqrt(square.sum())
        kind = np.dtype(self.weight.dtype)
        return piece, low, high, share.astype(kind), scale.astype(kind)
