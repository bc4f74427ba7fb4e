"""S4D: one bank of modes for every channel, with a trained step size."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm.layers.bank import Bank
from stablessm.layers.conjugates import modes_of
from stablessm.layers.diagonal import joined
from stablessm.layers.stepping import RULES, Rule, Stepping
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.links import time_of

STEP_SIZES = (1e-3, 1e-1)


class S4D(Bank):
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
        frozen: parts that are not trained.

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
    frozen: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        rule: Rule = "zero_order_hold",
        step_sizes: tuple[float, float] = STEP_SIZES,
        step_map: Parameterization | None = None,
        frozen: Sequence[str] = (),
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
            frozen: parts that are not trained: some of eigenvalues, step and drive.
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
        self.frozen = tuple(frozen)
        self.roles()

    def read(self, stepped: Stepping) -> Array:
        """Return m C gain B."""
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
