"""DLR: poles that all channels share, one complex readout a channel, and products of such systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.layers.base import Layer
from stablessm.layers.diagonal import joined
from stablessm.layers.stepping import eigenvalues_of, stepping
from stablessm.parameterizations import Parameterization

Cast = Literal["real", "imaginary", "sum", "product"]
CASTS: tuple[Cast, ...] = ("real", "imaginary", "sum", "product")
_READ_AS_REAL = {"real": 1.0, "imaginary": -1.0j, "sum": 1.0 - 1.0j, "product": -0.5j}  # of the kernel, or its square


class Grid(NamedTuple):
    """Phases 2 pi (n + first)/size for n = 0, 1, ..., exact in every precision.

    Attributes:
        size: phases that make a full turn.
        first: place of the first one.
    """

    size: int
    first: float = 0.0

    def phases(self, states: int) -> np.ndarray:
        """Return them, float64, shape (states,)."""
        return 2 * np.pi * ((np.arange(states) + self.first) / self.size % 1.0)


class Factor(eqx.Module):
    """Modes: poles lambda_n = f(w_n) e^(i theta_n), and what each channel reads them with.

    Attributes:
        weight: raw weights of the map of the modulus, shape (states,).
        phase: theta beyond that of the grid, radians, shape (states,); None for real poles.
        readout: w, shape (channels, states, 2) as two reals; (channels, states) for real poles.
        parameterization: the map.
        grid: phases that theta is added to; none where it is None.
    """

    weight: Array
    phase: Array | None
    readout: Array
    parameterization: Parameterization = eqx.field(static=True)
    grid: Grid | None = eqx.field(static=True, default=None)

    def whole_phase(self) -> Array | None:
        """Return theta with that of the grid, rounded to the dtype of the weights."""
        if self.phase is None or self.grid is None:
            return self.phase
        return self.phase + jnp.asarray(self.grid.phases(len(self.weight)), self.phase.dtype)

    def poles(self) -> engine.Poles:
        """Return lambda; phases of a grid are not rounded."""
        found = stepping(self.parameterization, self.weight, self.phase).poles
        if self.phase is None or self.grid is None:
            return found
        at = self.grid.phases(len(self.weight))
        return engine.product(found, engine.poles(np.zeros(len(at), self.weight.dtype), at))

    def kernel(self, length: int) -> tuple[Array, Array | None]:
        """Return real and imaginary part of sum_n w_n lambda_n^k for k < length; None for real poles."""
        read = joined(self.readout, self.phase)
        if self.phase is None:
            return engine.kernel(self.poles(), read, length), None
        both = engine.kernel(self.poles(), jnp.stack([read, -1j * read]), length)
        return both[0], both[1]


class DLR(Layer):
    r"""y = K * u + D u for each channel, K_k = Re sum_n w_n lambda_n^k, from recurrences h_k = lambda h_{k-1} + u_k.

    All channels share the poles; the map gives their modulus, exp(-s). How a complex kernel is read:

        real, imaginary   Re K, Im K
        sum               Re K + Im K
        product           Re K Im K = Im K^2 / 2, whose poles are the products of any two: a DLR of N (N + 1)/2 states

    K may be a product of kernels itself (`kronecker`): the poles are the products of those of the factors, and the
    kernel is written factor by factor, so that 1024 times 1024 poles cost as much as 2048. Only the state and the steps
    need every pole. How layers begin is told in `dlr_starts`.

    Attributes:
        factors: what the kernel is the product of, at least one.
        feedthrough: D, shape (channels,).
        cast: one of `CASTS`.

    References: Gupta, Mehta and Berant, Simplifying and Understanding State Space Models with Diagonal Linear RNNs
        (2022).
    """

    factors: tuple[Factor, ...]
    feedthrough: Array
    cast: Cast = eqx.field(static=True, default="real")

    def __check_init__(self) -> None:
        """Refuse a cast that there is not, or that real poles do not know, and factors that do not fit.

        Raises:
            ValueError: always then.
        """
        if self.cast not in CASTS:
            raise ValueError(f"`cast` must be one of {', '.join(CASTS)}, but got {self.cast!r}")
        if self.cast != "real" and all(one.phase is None for one in self.factors):
            raise ValueError(f"real poles are read as they are, but got the cast {self.cast!r}")
        channels = [one.readout.shape[0] for one in self.factors]
        if not channels or {*channels} != {len(self.feedthrough)}:
            raise ValueError(
                f"every factor must be of as many channels as `feedthrough`, but got {channels} and "
                f"{len(self.feedthrough)}"
            )

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

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return weights and phases as "recurrent"."""
        return {"recurrent": tuple(part for one in self.factors for part in (one.weight, one.phase))}

    def eigenvalues(self) -> Array:
        """Return lambda of every pole of the kernel that is cast, shape (states,)."""
        return _outer(
            [eigenvalues_of(one.parameterization, one.weight, one.whole_phase()) for one in self.factors], jnp.multiply
        )

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, shape (length, channels, channels): diagonal, D in K_0 (see `channel_kernels`)."""
        return jax.vmap(jnp.diag, in_axes=-1)(self.channel_kernels(length))

    def channel_kernels(self, length: int) -> Array:
        """Return the kernel of each channel, D in its first value, shape (channels, length).

        Args:
            length: number of steps, at least 0.
        """
        kernels = self._kernels(length)
        return kernels.at[:, 0].add(self.feedthrough) if length else kernels

    def expanded(self) -> tuple[engine.Poles, Array]:
        """Return (poles, read), K_k = Re sum_n read_n poles_n^k: of shapes (all states,), (channels, all states)."""
        poles = _outer([one.poles() for one in self.factors], engine.product)
        read = _outer([joined(one.readout, one.phase) for one in self.factors], jnp.multiply)
        if self.cast == "product":
            row, column = np.triu_indices(poles.shape[0])
            poles = engine.product(*(jax.tree.map(lambda leaf, place=place: leaf[place], poles)
                                     for place in (row, column)))  # fmt: skip
            read = read[:, row] * read[:, column] * np.where(row == column, 1.0, 2.0).astype(self.feedthrough.dtype)
        scale = _READ_AS_REAL[self.cast]
        return poles, read if scale == 1.0 else read * scale

    def initial_state(self) -> Array:
        """Return the zero state, shape (channels, all states)."""
        poles, read = self.expanded()
        return jnp.zeros(read.shape, jnp.result_type(read.dtype, jnp.complex64) if poles.is_complex else read.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (channels, all states).
            x: input, shape (channels,).

        Returns:
            (state, y): y of shape (channels,).
        """
        poles, read = self.expanded()
        state = engine.powers(poles, np.array(1)) * state + x[:, None]
        return state, (read * state).real.sum(-1) + self.feedthrough * x

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, channels); may be empty.
            state: before the first step, shape (channels, all states); zero by default.

        Returns:
            (y, state): outputs of shape (time, channels), and the state after the last step, which costs nothing under
            `jax.jit` if it is not used.
        """
        poles, read = self.expanded()
        if state is None and (len(self.factors) > 1 or self.cast == "product"):
            y, state = engine.convolve(x.T, self._kernels(len(x))), engine.last_state(poles, x.T, self.initial_state())
        else:
            y, state = engine.filter_bank(poles, read, x.T, state, gradient=True)
        return y.T + self.feedthrough * x, state

    def _kernels(self, length: int) -> Array:
        """K of each channel without D, shape (channels, length), factor by factor."""
        real, imaginary = self.factors[0].kernel(length)
        for factor in self.factors[1:]:
            real, imaginary = _times((real, imaginary), factor.kernel(length))
        if self.cast == "real":
            return real
        return {"imaginary": imaginary, "sum": real + imaginary, "product": real * imaginary}[self.cast]


def _times(one: tuple[Array, Array | None], other: tuple[Array, Array | None]) -> tuple[Array, Array | None]:
    """The product of two complex numbers in parts; a number without an imaginary part is real."""
    (a, b), (c, d) = one, other
    if b is None or d is None:
        return a * c, a * d if b is None and d is not None else b if b is None else b * c
    return a * c - b * d, a * d + b * c


def _outer(parts: list, operation) -> Array | engine.Poles:
    """Combine the last axes of all parts, every entry with every other one; the later ones run faster."""
    found = parts[0]
    for part in parts[1:]:
        ahead, behind = (jax.tree.map(lambda leaf, at=at: jnp.expand_dims(leaf, at), one)
                         for one, at in ((found, -1), (part, -2)))  # fmt: skip
        both = operation(ahead, behind)
        found = jax.tree.map(lambda leaf: leaf.reshape(*leaf.shape[:-2], -1), both)
    return found
