"""S4: for every channel a diagonal plus low-rank system, its kernel of any length from one set of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.base import Layer
from stablessm.layers.conjugates import modes_of
from stablessm.layers.diagonal import joined
from stablessm.layers.hippo import normal_plus_low_rank
from stablessm.layers.roles import grouped
from stablessm.layers.s4d import STEP_SIZES, log_uniform
from stablessm.layers.stepping import eigenvalues_of
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.links import time_of


class S4(Layer):
    r"""y_k = C x_k + D u_k for each channel on its own, dx/dt = (Lambda - P Q*) x + B u under the bilinear rule.

    The map gives the decay -Re Lambda. Q is P unless it is untied: then nothing keeps the eigenvalues of Lambda - P Q*
    in the left half plane. C is the readout of the state itself and not C (I - Abar^L), which ties a model to one
    length: a layer runs at any length and, with `rescaled`, at any step size. Complex states are one of each pair.

    Attributes:
        weight: raw weights of the map, shape (channels, modes).
        frequency: Im Lambda, of the same shape; None where Lambda is real.
        low_rank: P, shape (channels, modes, 2) as two reals, and (channels, modes) where Lambda is real.
        untied: Q, of the same shape; None where it is P.
        input_weight: B, of the same shape.
        readout: C, unconjugated, of the same shape.
        feedthrough: D, shape (channels,).
        step_weight: raw weight of the step size, shape (channels,).
        parameterization: the map of the decay.
        step_map: the map of the step size.
        frozen: parts that are not trained, of "eigenvalues", "low_rank", "drive" and "step".

    References: Gu, Goel and Re, Efficiently Modeling Long Sequences with Structured State Spaces (ICLR 2022).
    """

    weight: Array
    frequency: Array | None
    low_rank: Array
    untied: Array | None
    input_weight: Array
    readout: Array
    feedthrough: Array
    step_weight: Array
    parameterization: Parameterization = eqx.field(static=True)
    step_map: Parameterization = eqx.field(static=True)
    frozen: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        low_rank: ArrayLike | None = None,
        drive: ArrayLike | None = None,
        tied: bool = True,
        step_sizes: tuple[float, float] = STEP_SIZES,
        step_map: Parameterization | None = None,
        frozen: Sequence[str] = (),
        key: Array,
    ) -> None:
        """Make a layer whose channels start at a given Lambda, whatever the map (see `s4` for the start of HiPPO).

        Args:
            parameterization: the map of the decay, under the continuous link.
            eigenvalues: Lambda of every channel, shape (modes,): one of each conjugate pair, or real values.
            inputs: number of channels.
            low_rank: P, shape (modes,); the root of half the decay in each mode by default.
            drive: B, shape (modes,); 1 by default.
            tied: whether Q is P; otherwise Q starts at P and is trained by itself.
            step_sizes: range of dt, drawn log-uniformly.
            step_map: map of the step size; the exponential one by default.
            frozen: parts that are not trained: some of eigenvalues, low_rank, drive and step.
            key: PRNG key of C ~ CN(0, 1), D ~ N(0, 1), the same for every map.

        Raises:
            ParameterizationError: a decay or a step size lies outside the map's image.
            ValueError: a link of discrete time, a shape, real poles beside pairs, or a range that is wrong.
        """
        if time_of(parameterization.link) != "continuous":
            raise ValueError(f"S4 is a system of continuous time, but the link is {parameterization.link!r}")
        if not isinstance(inputs, int) or inputs < 1:
            raise ValueError(f"`inputs` must be a number of channels, at least 1, but got {inputs!r}")
        self.parameterization = parameterization
        self.step_map = PARAMETERIZATIONS["exp"] if step_map is None else step_map
        self.weight, self.frequency = modes_of(parameterization, eigenvalues, channels=inputs)
        (_, modes), dtype = self.weight.shape, self.weight.dtype
        if self.frequency is not None and self.frequency.shape[-1] != modes:
            raise ValueError("S4 takes conjugate pairs or real poles, not both: give an even number of states")
        given = {
            "low_rank": np.sqrt(-np.asarray(eigenvalues).real / 2) if low_rank is None else low_rank,
            "drive": np.ones(modes) if drive is None else drive,
        }
        for name, value in given.items():
            if np.shape(value) != (modes,):
                raise ValueError(f"`{name}` must have the shape ({modes},), but got {np.shape(value)}")
        self.low_rank, self.input_weight = (self._stored(one, inputs, dtype) for one in given.values())
        self.untied = None if tied else self.low_rank
        readout_key, feedthrough_key, step_key = jax.random.split(key, 3)
        scale = 1.0 if self.frequency is None else 0.5**0.5
        self.readout = jax.random.normal(readout_key, self.low_rank.shape, dtype) * scale
        self.feedthrough = jax.random.normal(feedthrough_key, (inputs,), dtype)
        self.step_weight = self.step_map.weight(log_uniform(step_sizes, (inputs,), dtype, step_key))
        self.frozen = tuple(frozen)
        self.roles()

    def _stored(self, values: ArrayLike, channels: int, dtype: np.dtype) -> Array:
        values = np.asarray(values)
        pair = values.real if self.frequency is None else np.stack([values.real, values.imag], axis=-1)
        return jnp.broadcast_to(jnp.asarray(pair, dtype), (channels, *pair.shape))

    @property
    def inputs(self) -> int:
        """Number of channels."""
        return self.weight.shape[0]

    @property
    def outputs(self) -> int:
        """Number of channels."""
        return self.weight.shape[0]

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    @property
    def pairs(self) -> bool:
        """Whether each state stands for itself and its conjugate."""
        return self.frequency is not None

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return Lambda, P, Q and B as "recurrent", as published runs have them, dt as "step", and what is "frozen"."""
        parts = {
            "eigenvalues": (self.weight, self.frequency),
            "low_rank": (self.low_rank, self.untied),
            "drive": (self.input_weight,),
            "step": (self.step_weight,),
        }
        return grouped(parts, self.frozen, recurrent=("eigenvalues", "low_rank", "drive"))

    def step_size(self) -> Array:
        """Return dt of each channel, shape (channels,)."""
        return self.step_map.decay(self.step_weight)

    def eigenvalues(self) -> Array:
        """Return Lambda, shape (channels, modes): the eigenvalues of the normal part, one of each pair."""
        return eigenvalues_of(self.parameterization, self.weight, self.frequency)

    def system(self) -> engine.LowRankSystem:
        """Return the system of every channel as the engine takes it."""
        kind = jnp.result_type(self.weight.dtype, jnp.complex64)
        right = self.low_rank if self.untied is None else self.untied
        parts = [joined(one, self.frequency) for one in (self.low_rank, right, self.input_weight, self.readout)]
        return engine.LowRankSystem(*(one.astype(kind) for one in (self.eigenvalues(), *parts)), self.step_size())

    def rescaled(self, factor: float) -> S4:
        """Return the layer with every step size multiplied: the same continuous system, sampled otherwise.

        Args:
            factor: of all step sizes, positive: 1/2 for inputs at twice the rate.
        """
        return eqx.tree_at(lambda one: one.step_weight, self, self.step_map.weight(self.step_size() * factor))

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length, shape (length, channels, channels): diagonal, D in K_0 (see `channel_kernels`)."""
        return jax.vmap(jnp.diag, in_axes=-1)(self.channel_kernels(length))

    def channel_kernels(self, length: int) -> Array:
        """Return the kernel of each channel, D in its first value, shape (channels, length).

        Args:
            length: number of steps, at least 0.
        """
        kernels = engine.dplr_kernel(self.system(), length, pairs=self.pairs)
        return kernels.at[:, 0].add(self.feedthrough) if length else kernels

    def initial_state(self) -> Array:
        """Return the zero state, shape (channels, modes), complex."""
        return jnp.zeros(self.weight.shape, jnp.result_type(self.weight.dtype, jnp.complex64))

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step, in as many operations as there are modes.

        Args:
            state: shape (channels, modes).
            x: input, shape (channels,).

        Returns:
            (state, y): y of shape (channels,).
        """
        system = self.system()
        state = engine.low_rank_step(system, pairs=self.pairs).advance(state, x)
        read = (system.readout * state).real.sum(-1) * (2 if self.pairs else 1)
        return state, read + self.feedthrough * x

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series: the outputs by convolution, the last state step by step (if it is used).

        Args:
            x: shape (time, channels); may be empty.
            state: before the first step, shape (channels, modes); zero by default.

        Returns:
            (y, state): outputs of shape (time, channels), and the state after the last step.
        """
        system = self.system()
        start = self.initial_state() if state is None else state
        y = self.feedthrough * x
        if x.shape[0]:
            y = y + engine.convolve(x.T, engine.dplr_kernel(system, x.shape[0], pairs=self.pairs)).T
            if state is not None:
                y = y + engine.state_response(system, start, x.shape[0], pairs=self.pairs).T
        return y, engine.low_rank_last_state(system, x.T, start, pairs=self.pairs)


def s4(parameterization: Parameterization, *, states: int = 64, inputs: int, key: Array, **more: ArrayLike) -> S4:
    """Return a layer that starts as HiPPO-LegS.

    Args:
        parameterization: the map of the decay.
        states: N, even, the order of the real system; N/2 modes are stored.
        inputs: number of channels.
        key: PRNG key.
        **more: what `S4` takes beyond that.

    Example:
        >>> layer = s4(PARAMETERIZATIONS["exp"], states=4, inputs=2, key=jax.random.key(0))
        >>> layer(jnp.ones((5, 2)))[0].shape, layer.weight.shape
        ((5, 2), (2, 2))
    """
    start = normal_plus_low_rank(states)
    half = slice((states + 1) // 2, None) if states > 1 else slice(None)
    if states % 2 and states > 1:
        raise ValueError(f"`states` must be even, or 1, but got {states}")
    lam = start.eigenvalues[half]
    parts = (lam.real if states == 1 else lam), start.low_rank[half], start.inputs[half]
    return S4(parameterization, parts[0], inputs=inputs, low_rank=parts[1], drive=parts[2], key=key, **more)
