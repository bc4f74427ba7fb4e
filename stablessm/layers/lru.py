"""LRU: a diagonal recurrence in discrete time, its inputs scaled so that white noise keeps the states at size 1."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.diagonal import Diagonal, Discretisation, Time, joined, start
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.links import time_of


class LRU(Diagonal):
    r"""y_k = Re C h_k + D u_k, h_k = lambda h_{k-1} + gamma B u_k, gamma = sqrt(1 - |lambda|^2).

    gamma follows the eigenvalues: it is computed from the margin m = 1 - |lambda| as sqrt(m (2 - m)), without a
    subtraction near |lambda| = 1, and puts lambda into the gradient of every weight. `normalise=False` leaves it out. A
    map of continuous time gives lambda = e^(-s), as its exponential link does. The published layer is the map `exp`
    under the exponential link with complex eigenvalues, drawn by `ring`.

    Attributes:
        weight: raw weights of the map, shape (states,).
        phase: argument of lambda, shape (states,); None for real eigenvalues.
        input_weight: B, shape (states, inputs), and (states, inputs, 2) where complex.
        readout: C, shape (outputs, states), and (outputs, states, 2) where complex.
        feedthrough: D, shape (inputs,).

    References: Orvieto et al., Resurrecting Recurrent Neural Networks for Long Sequences (ICML 2023).
    """

    weight: Array
    phase: Array | None
    input_weight: Array
    readout: Array
    feedthrough: Array
    bias: None
    constants: dict[str, Array]
    parameterization: Parameterization = eqx.field(static=True)
    normalise: bool = eqx.field(static=True)
    time: Time = eqx.field(static=True)
    step_size: float = eqx.field(static=True)
    discretisation: Discretisation = eqx.field(static=True)
    memoryless: int = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        normalise: bool = True,
        key: Array,
    ) -> None:
        """Make a layer that starts at given eigenvalues, whatever the map.

        Args:
            parameterization: the map.
            eigenvalues: shape (states,): of one step in discrete time, of unit time under a continuous link.
            inputs: number of input features, and of outputs.
            normalise: whether gamma multiplies the inputs.
            key: PRNG key of B ~ N(0, 1/inputs), C ~ N(0, 1/states), D ~ N(0, 1), the same for every map.

        Raises:
            ParameterizationError: an eigenvalue lies outside the map's image.
            ValueError: a shape is wrong.

        Example:
            >>> lru = PARAMETERIZATIONS["exp"].replace(link="exponential")
            >>> poles = ring(0.9, 0.999, 6.28, states=16, key=jax.random.key(1))
            >>> LRU(lru, poles, inputs=3, key=jax.random.key(0))(jnp.ones((7, 3)))[0].shape
            (7, 3)
        """
        self.parameterization, self.normalise = parameterization, normalise
        self.time, self.step_size, self.discretisation = time_of(parameterization.link), 1.0, "zero_order_hold"
        self.memoryless, self.bias, self.constants = 0, None, {}
        self.weight, self.phase = start(
            parameterization, eigenvalues, time=self.time, step_size=1.0, discretisation="zero_order_hold", constants={}
        )
        states, dtype = self.weight.shape[0], self.weight.dtype
        pair = () if self.phase is None else (2,)
        scale = 1.0 if self.phase is None else 0.5**0.5
        input_key, readout_key, feedthrough_key = jax.random.split(key, 3)
        self.input_weight = jax.random.normal(input_key, (states, inputs, *pair), dtype) * scale / inputs**0.5
        self.readout = jax.random.normal(readout_key, (inputs, states, *pair), dtype) * scale / states**0.5
        self.feedthrough = jax.random.normal(feedthrough_key, (inputs,), dtype)

    @property
    def inputs(self) -> int:
        """Number of input features."""
        return self.input_weight.shape[1]

    @property
    def outputs(self) -> int:
        """Number of output features: as many as inputs."""
        return self.input_weight.shape[1]

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    def discretised(self) -> tuple[Array, Array]:
        """Return (lambda_bar, gamma), both of shape (states,)."""
        multiplier = super().discretised()[0]
        if not self.normalise:
            return multiplier, jnp.ones_like(self.weight)
        margin = self.margin()
        return multiplier, jnp.sqrt(margin * (2 - margin))

    def kernel(self, length: int) -> Array:
        """Return K_k = Re C lambda^k gamma B, D added to K_0, for k < length: shape (length, outputs, inputs).

        Args:
            length: number of steps, at least 0.
        """
        columns = self.discretised()[1][:, None] * joined(self.input_weight, self.phase)
        rows = joined(self.readout, self.phase)
        kernel = engine.kernel(self.poles(), rows[:, None, :] * columns.T[None, :, :], length)
        kernel = jnp.moveaxis(kernel, -1, 0)
        return kernel.at[0].add(jnp.diag(self.feedthrough)) if kernel.shape[0] else kernel

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (states,).
            x: input, shape (inputs,).

        Returns:
            (state, y): the new state and the output read from it, shape (outputs,).
        """
        state = self.advance(state, x)
        return state, (joined(self.readout, self.phase) @ state).real + self.feedthrough * x

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, inputs); may be empty.
            state: before the first step, shape (states,); zero by default.

        Returns:
            (y, state): outputs of shape (time, outputs), and the state after the last step.
        """
        drive, inputs = self.driven(x)
        y, state = engine.recur(self.poles(), inputs, state, drive=drive, readout=joined(self.readout, self.phase))
        return y + self.feedthrough * x, state


def ring(low: float, high: float, largest_phase: float, *, states: int, key: Array) -> Array:
    """Return eigenvalues uniform over a ring of the complex plane: of area between two moduli, of phase up to a limit.

    Args:
        low: smallest modulus, at least 0.
        high: largest modulus, below 1.
        largest_phase: in radians, at most 2 pi.
        states: how many.
        key: PRNG key.

    Raises:
        ValueError: moduli that are not in order or not stable.
    """
    if not 0 <= low < high < 1:
        raise ValueError(f"moduli must lie in order in [0, 1), but got {low} and {high}")
    modulus_key, phase_key = jax.random.split(key)
    modulus = jnp.sqrt(jax.random.uniform(modulus_key, (states,), minval=low**2, maxval=high**2))
    phase = jax.random.uniform(phase_key, (states,), maxval=largest_phase)
    return modulus * jax.lax.complex(jnp.cos(phase), jnp.sin(phase))
