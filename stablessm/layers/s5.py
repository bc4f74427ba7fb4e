"""S5: one diagonal system for all channels together, with dense input and output matrices and a step size a mode."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.conjugates import modes_of
from stablessm.layers.diagonal import joined
from stablessm.layers.s4d import STEP_SIZES, log_uniform
from stablessm.layers.stepping import RULES, Rule, Stepped
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.links import time_of


class S5(Stepped):
    r"""y_k = Re sum_n m_n C_n h_n,k + D u_k, dh_n/dt = lambda_n h_n + (B u)_n: many inputs, many outputs, one state.

    Conjugate pairs are stored once (m = 2), real poles count once. Each mode has a step size of its own.

    Attributes:
        weight: raw weights of the map, shape (modes,).
        frequency: of the pairs, radians per unit time (in discrete time the argument), shape (pairs,).
        input_weight: B, shape (modes, inputs, 2) as two reals, and (modes, inputs) where all poles are real.
        readout: C, shape (outputs, modes, 2), and (outputs, modes) where all poles are real.
        feedthrough: D, shape (inputs,).
        step_weight: raw weight of the step size, shape (modes,); None in discrete time.
        parameterization: the map of the decay.
        step_map: the map of the step size.
        rule: discretisation, one of `stepping.RULES`.

    References: Smith, Warrington and Linderman, Simplified State Space Layers for Sequence Modeling (ICLR 2023).
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
        """Make a layer that starts at given eigenvalues, whatever the map.

        Args:
            parameterization: the map of the decay (continuous time) or the modulus (discrete time).
            eigenvalues: shape (modes,): of each conjugate pair the one that is stored, then the real poles.
            inputs: number of input features, and of outputs.
            rule: "zero_order_hold" or "bilinear", of continuous time.
            step_sizes: range of dt, drawn log-uniformly.
            step_map: map of the step size; the exponential one by default.
            key: PRNG key of B ~ CN(0, 1/inputs), C ~ CN(0, 1/modes), D ~ N(0, 1), the same for every map.

        Raises:
            ParameterizationError: an eigenvalue or a step size lies outside the map's image.
            ValueError: a shape, a rule or a range of step sizes is wrong.

        Example:
            >>> from stablessm.layers.hippo import diagonal_eigenvalues
            >>> layer = S5(PARAMETERIZATIONS["exp"], diagonal_eigenvalues("legs", 9), inputs=3, key=jax.random.key(0))
            >>> layer(jnp.ones((7, 3)))[0].shape, layer.weight.shape, layer.frequency.shape
            ((7, 3), (5,), (4,))
        """
        if rule not in RULES:
            raise ValueError(f"`rule` must be one of {', '.join(RULES)}, but got {rule!r}")
        self.parameterization, self.rule = parameterization, rule
        self.step_map = PARAMETERIZATIONS["exp"] if step_map is None else step_map
        self.weight, self.frequency = modes_of(parameterization, eigenvalues)
        (modes,), dtype = self.weight.shape, self.weight.dtype
        keys, pair = jax.random.split(key, 4), () if self.frequency is None else (2,)
        scale = 1.0 if self.frequency is None else 0.5**0.5
        self.input_weight = jax.random.normal(keys[0], (modes, inputs, *pair), dtype) * scale / inputs**0.5
        self.readout = jax.random.normal(keys[1], (inputs, modes, *pair), dtype) * scale / modes**0.5
        self.feedthrough = jax.random.normal(keys[2], (inputs,), dtype)
        self.step_weight = None
        if time_of(parameterization.link) == "continuous":
            self.step_weight = self.step_map.weight(log_uniform(step_sizes, (modes,), dtype, keys[3]))

    @property
    def inputs(self) -> int:
        """Number of input features."""
        return self.input_weight.shape[1]

    @property
    def outputs(self) -> int:
        """Number of output features: as many as inputs."""
        return self.input_weight.shape[1]

    def kernel(self, length: int) -> Array:
        """Return K_k = Re m C lambda_bar^k gain B, D added to K_0, for k < length: shape (length, outputs, inputs).

        Args:
            length: number of steps, at least 0.
        """
        poles, drive, readout = self._matrices()
        kernel = jnp.moveaxis(engine.kernel(poles, readout[:, None, :] * drive.T[None, :, :], length), -1, 0)
        return kernel.at[0].add(jnp.diag(self.feedthrough)) if kernel.shape[0] else kernel

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (modes,).
            x: input, shape (inputs,).

        Returns:
            (state, y): the new state and the output read from it, shape (outputs,).
        """
        _, drive, readout = self._matrices()
        state = self.discretised().multiplier * state + drive @ x
        return state, (readout @ state).real + self.feedthrough * x

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, inputs); may be empty.
            state: before the first step, shape (modes,); zero by default.

        Returns:
            (y, state): outputs of shape (time, outputs), and the state after the last step.
        """
        poles, drive, readout = self._matrices()
        y, state = engine.recur(poles, x, state, drive=drive, readout=readout)
        return y + self.feedthrough * x, state

    def _matrices(self) -> tuple[engine.Poles, Array, Array]:
        """(poles, gain B, m C): what the recurrence is driven and read with."""
        stepped = self.discretised()
        drive = stepped.gain[:, None] * joined(self.input_weight, self.frequency)
        return stepped.poles, drive, self.modes.multiplicity() * joined(self.readout, self.frequency)
