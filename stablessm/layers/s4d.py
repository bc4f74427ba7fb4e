"""S4D: one bank of modes for every channel, with a trained step size."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.conjugates import modes_of
from stablessm.layers.diagonal import joined
from stablessm.layers.stepping import RULES, Rule, Stepped, Stepping
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.links import time_of

STEP_SIZES = (1e-3, 1e-1)


class S4D(Stepped):
    r"""y_k = Re sum_n m_n C_n h_n,k + D u_k for each channel on its own, h_n the modes of dh/dt = lambda_n h + B_n u.

    Every channel has `states` modes of its own: conjugate pairs, stored once (m = 2), and real poles (m = 1). The map
    gives the decay of each, another map the step size (the exponential one, so that its weight is log dt). Under a link
    of discrete time lambda is the multiplier itself, and there is no step size.

    Attributes:
        weight: raw weights of the map, shape (channels, modes).
        frequency: of the pairs, radians per unit time (in discrete time the argument), shape (channels, pairs).
        input_weight: B, shape (channels, modes, 2) as two reals, and (channels, modes) where all poles are real.
        readout: C, of the same shape.
        feedthrough: D, shape (channels,).
        step_weight: raw weight of the step size, shape (channels,); None in discrete time.
        parameterization: the map of the decay.
        step_map: the map of the step size.
        rule: discretisation, one of `stepping.RULES`.

    References: Gu et al., On the Parameterization and Initialization of Diagonal State Space Models (NeurIPS 2022).
    """

    weight: Array
    frequency: Array | None
    input_weight: Array
    readout: Array
    feedthrough: Array
    step_weight: Array | None
    parameterization: Parameterization = eqx.field(static=True)
    step_map: Parameterization = eqx.field(static=True)
    rule: Rule = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        rule: Rule = "zero_order_hold",
        step_sizes: tuple[float, float] = STEP_SIZES,
        step_map: Parameterization | None = None,
        key: Array,
    ) -> None:
        """Make a layer whose channels start at given eigenvalues, whatever the map.

        Args:
            parameterization: the map of the decay (continuous time) or the modulus (discrete time).
            eigenvalues: shape (modes,), of every channel, or (channels, modes): of each conjugate pair the one that is
                stored, and real poles; pairs first (see `hippo.diagonal_eigenvalues`).
            inputs: number of channels.
            rule: "zero_order_hold" or "bilinear", of continuous time.
            step_sizes: range of dt, drawn log-uniformly.
            step_map: map of the step size; the exponential one by default.
            key: PRNG key of the weights, the same for every map: C ~ CN(0, 1), D ~ N(0, 1), B = 1.

        Raises:
            ParameterizationError: an eigenvalue or a step size lies outside the map's image.
            ValueError: a shape, a rule or a range of step sizes is wrong.

        Example:
            >>> from stablessm.layers.hippo import diagonal_eigenvalues
            >>> poles = diagonal_eigenvalues("lin", 64)
            >>> layer = S4D(PARAMETERIZATIONS["exp"], poles, inputs=3, key=jax.random.key(0))
            >>> layer(jnp.ones((7, 3)))[0].shape, layer.weight.shape
            ((7, 3), (3, 32))
        """
        if rule not in RULES:
            raise ValueError(f"`rule` must be one of {', '.join(RULES)}, but got {rule!r}")
        if not isinstance(inputs, int) or inputs < 1:
            raise ValueError(f"`inputs` must be a number of channels, at least 1, but got {inputs!r}")
        self.parameterization, self.rule = parameterization, rule
        self.step_map = PARAMETERIZATIONS["exp"] if step_map is None else step_map
        self.weight, self.frequency = modes_of(parameterization, eigenvalues, channels=inputs)
        readout_key, feedthrough_key, step_key = jax.random.split(key, 3)
        shape, dtype = self.weight.shape, self.weight.dtype
        if self.frequency is None:
            self.input_weight, self.readout = jnp.ones(shape, dtype), jax.random.normal(readout_key, shape, dtype)
        else:
            self.input_weight = jnp.stack([jnp.ones(shape, dtype), jnp.zeros(shape, dtype)], axis=-1)
            self.readout = jax.random.normal(readout_key, (*shape, 2), dtype) * 0.5**0.5
        self.feedthrough = jax.random.normal(feedthrough_key, (inputs,), dtype)
        self.step_weight = None
        if time_of(parameterization.link) == "continuous":
            self.step_weight = self.step_map.weight(log_uniform(step_sizes, (inputs,), dtype, step_key))

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
        return _with_feedthrough(engine.kernel(stepped.poles, self._read(stepped), length), self.feedthrough)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: of the modes without B, shape (channels, modes).
            x: input, shape (channels,).

        Returns:
            (state, y): y of shape (channels,).
        """
        stepped = self.discretised()
        state = stepped.multiplier * state + x[:, None]
        return state, (self._read(stepped) * state).real.sum(-1) + self.feedthrough * x

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, channels); may be empty.
            state: before the first step, shape (channels, modes); zero by default.

        Returns:
            (y, state): outputs of shape (time, channels), and the state after the last step.
        """
        stepped = self.discretised()
        y, state = engine.filter_bank(stepped.poles, self._read(stepped), x.T, state, gradient=True)
        return y.T + self.feedthrough * x, state

    def _read(self, stepped: Stepping) -> Array:
        """m C gain B, what the state is read with where the input goes to it as it is."""
        both = joined(self.input_weight, self.frequency) * joined(self.readout, self.frequency)
        return both * stepped.gain * self.modes.multiplicity()


def log_uniform(limits: tuple[float, float], shape: tuple[int, ...], dtype: np.dtype, key: Array) -> Array:
    """Return draws whose logarithm is uniform.

    Args:
        limits: smallest and largest value, positive.
        shape: of the result.
        dtype: of the result.
        key: PRNG key.

    Raises:
        ValueError: the limits are not positive, finite and in order.
    """
    low, high = limits
    if not (0 < low <= high < np.inf):
        raise ValueError(f"step sizes must lie between two positive numbers in order, but got {low} and {high}")
    return jnp.exp(jax.random.uniform(key, shape, dtype, np.log(low), np.log(high)))


def _with_feedthrough(kernels: Array, feedthrough: Array) -> Array:
    return kernels.at[:, 0].add(feedthrough) if kernels.shape[-1] else kernels
