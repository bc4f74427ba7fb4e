"""One layer of the state-space model (Eq. 2): a diagonal recurrence under an elementwise activation."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.engine.length import whole
from stablessm.layers.activations import Activation, activation_of
from stablessm.layers.diagonal import Diagonal, Discretisation, Time, joined, start
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization


class SSM(Diagonal):
    r"""y_k = sigma(Re h_k) over the recurrence of `Diagonal`, the state updated before it is read.

    Discrete time: h_k = Lambda h_{k-1} + U x_k + b. Continuous time: dh/dt = Lambda h + U x + b, sampled. There is one
    output for each state. sigma never touches the raw input. A stack of such layers with a linear readout is the
    model of the theory; states without memory make it a pointwise network (`pointwise`).

    Attributes:
        weight: raw weights of the map, shape (recurrent states,).
        phase: imaginary part of lambda (continuous) or argument (discrete), of the same shape; None for real ones.
        input_weight: U, shape (states, inputs), and (states, inputs, 2) where complex.
        bias: b, shape (states,), and (states, 2) where complex; None for a layer without one.
        constants: values of the map's constants that override the record's; empty unless set.
        activation: sigma.
        memoryless: number of states, the last ones, whose eigenvalue is frozen at 0.

    References: Wang and Li, StableSSM (ICML 2024), Eq. 2.
    """

    weight: Array
    phase: Array | None
    input_weight: Array
    bias: Array | None
    constants: dict[str, Array]
    parameterization: Parameterization = eqx.field(static=True)
    time: Time = eqx.field(static=True)
    step_size: float = eqx.field(static=True)
    discretisation: Discretisation = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)
    memoryless: int = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        time: Time,
        inputs: int,
        activation: str | Activation = "tanh",
        step_size: float = 1.0,
        discretisation: Discretisation = "zero_order_hold",
        bias: bool = True,
        memoryless: int = 0,
        constants: dict[str, Array] | None = None,
        key: Array,
    ) -> None:
        """Make a layer that starts at given eigenvalues, whatever the map.

        Args:
            parameterization: the map, under a link of the right time.
            eigenvalues: shape (recurrent states,); real, or complex (real part negative in continuous time).
            time: "continuous" or "discrete".
            inputs: number of input features.
            activation: sigma, a key of `ACTIVATIONS` or a record.
            step_size: dt; discrete time has 1.
            discretisation: "zero_order_hold" or "euler", of continuous time.
            bias: whether the layer has one; it starts at 0.
            memoryless: number of further states with the eigenvalue 0, in discrete time.
            constants: values of the map's constants, possibly traced, in place of the record's.
            key: PRNG key of U ~ N(0, 1/inputs), the same for every map.

        Raises:
            ParameterizationError: the link lives in the other time, or an eigenvalue lies outside the map's image.
            ValueError: a shape, the time, the step size, the discretisation or the activation is wrong.

        Example:
            >>> decays = jnp.array([0.1, 0.5])
            >>> layer = SSM(PARAMETERIZATIONS["exp"], -decays, time="continuous", inputs=3, key=jax.random.key(0))
            >>> layer(jnp.ones((7, 3)))[0].shape
            (7, 2)
        """
        self.parameterization, self.time, self.step_size = parameterization, time, float(step_size)
        self.discretisation, self.memoryless = discretisation, memoryless
        self.activation, self.constants = activation_of(activation), dict(constants or {})
        self.weight, self.phase = start(
            parameterization,
            eigenvalues,
            time=time,
            step_size=step_size,
            discretisation=discretisation,
            constants=self.constants,
            memoryless=memoryless,
        )
        states, dtype = self.weight.shape[0] + memoryless, self.weight.dtype
        pair = () if self.phase is None else (2,)
        scale = 1.0 if self.phase is None else 0.5**0.5
        self.input_weight = jax.random.normal(key, (states, inputs, *pair), dtype) * scale / inputs**0.5
        self.bias = jnp.zeros((states, *pair), dtype) if bias else None

    @property
    def inputs(self) -> int:
        """Number of input features."""
        return self.input_weight.shape[1]

    @property
    def outputs(self) -> int:
        """Number of output features: the states."""
        return self.input_weight.shape[0]

    @property
    def is_linear(self) -> bool:
        """Whether sigma is the identity."""
        return self.activation.is_linear

    def kernel(self, length: int) -> Array:
        """Return K_k = Re lambda_bar^k gain U for k < length, shape (length, states, inputs).

        Args:
            length: number of steps, at least 0.

        Raises:
            ValueError: sigma is not the identity, or the length is none.
        """
        if not self.is_linear:
            raise ValueError(f"a layer under {self.activation.name!r} is not linear, so that it has no kernel")
        rows = self.discretised()[1][:, None] * joined(self.input_weight, self.phase)
        modes = jax.tree.map(lambda leaf: leaf[:, None, None], self.poles())
        return jnp.moveaxis(engine.kernel(modes, rows[..., None], whole(length)), -1, 0)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (states,).
            x: input, shape (inputs,).

        Returns:
            (state, y): the new state and the output read from it, both of shape (states,).
        """
        state = self.advance(state, x)
        return state, self.activation(state.real)

    def hidden(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Return (Re h, state): what sigma acts on, shape (time, states), and the state after the last step."""
        drive, inputs = self.driven(x)
        history, state = engine.recur(self.poles(), inputs, state, drive=drive)
        return history.real, state

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time, inputs); may be empty.
            state: state before the first step, shape (states,); zero by default.

        Returns:
            (y, state): outputs of shape (time, states), and the state after the last step.
        """
        history, state = self.hidden(x, state)
        return self.activation(history), state


def pointwise(states: int, *, inputs: int, activation: str | Activation = "identity", key: Array) -> SSM:
    """Return a layer with no memory at all: sigma(U x_k + b), every recurrent weight frozen at 0.

    U_1 sigma(U_2 x + b_2) + b_1 is exactly what two of them hold before the second sigma.

    Args:
        states: number of states.
        inputs: number of input features.
        activation: sigma.
        key: PRNG key of U.

    Example:
        >>> layer = pointwise(4, inputs=2, activation="relu", key=jax.random.key(0))
        >>> layer(jnp.ones((3, 2)))[0].shape, layer.eigenvalues().tolist()
        ((3, 4), [0.0, 0.0, 0.0, 0.0])
    """
    direct = PARAMETERIZATIONS["direct"].replace(link="one-minus")  # of no state: any map would do
    return SSM(direct, jnp.zeros(0), time="discrete", inputs=inputs, activation=activation, memoryless=states, key=key)
