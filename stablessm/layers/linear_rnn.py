"""The linear RNN: diagonal recurrence, linear readout, eigenvalues through a parameterization."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.diagonal import Diagonal, Discretisation, Time, joined, start
from stablessm.parameterizations import Parameterization


class LinearRNN(Diagonal):
    r"""A diagonal linear state-space model whose state is updated before it is read.

    The recurrence of `Diagonal`, read linearly: y_k = Re c^T h_k, with the kernel K_k = Re sum_i c_i lambda_i^k U_i in
    discrete time.

    Attributes:
        weight: raw weights of the map, shape (states,).
        phase: imaginary part of lambda (continuous) or argument (discrete), shape (states,); None for real eigenvalues.
        input_weight: U, shape (states, inputs), and (states, inputs, 2) where complex.
        readout: c, shape (outputs, states), and (outputs, states, 2) where complex.
        bias: b, shape (states,), and (states, 2) where complex; None for a model without one.
        constants: values of the map's constants that override the record's; empty unless set.

    References: Wang and Li, StableSSM (ICML 2024), section 2; Orvieto et al., LRU (ICML 2023).
    """

    weight: Array
    phase: Array | None
    input_weight: Array
    readout: Array
    bias: Array | None
    constants: dict[str, Array]
    parameterization: Parameterization = eqx.field(static=True)
    time: Time = eqx.field(static=True)
    step_size: float = eqx.field(static=True)
    discretisation: Discretisation = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)
    memoryless: int = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        time: Time,
        step_size: float = 1.0,
        discretisation: Discretisation = "zero_order_hold",
        bias: bool = False,
        inputs: int | None = None,
        outputs: int | None = None,
        constants: dict[str, Array] | None = None,
        key: Array,
    ) -> None:
        """Make a model that starts at given eigenvalues, whatever the map.

        Args:
            parameterization: the map, under a link of the right time.
            eigenvalues: shape (states,); real, or complex (real part negative in continuous time).
            time: "continuous" or "discrete".
            step_size: dt; discrete time has 1.
            discretisation: "zero_order_hold" or "euler", of continuous time.
            bias: whether the model has one; it starts at 0.
            inputs: number of input features; None for a scalar series without a feature axis.
            outputs: number of output features; None for a scalar series.
            constants: values of the map's constants, possibly traced, in place of the record's.
            key: PRNG key of U ~ N(0, 1/inputs) and c ~ N(0, 1/states), the same for every map.

        Raises:
            ParameterizationError: the link lives in the other time, or an eigenvalue lies outside the map's image.
            ValueError: a shape, the time, the step size or the discretisation is wrong.
        """
        if (inputs is None) != (outputs is None):
            raise ValueError("`inputs` and `outputs` must both be given, or both left out for a scalar series")
        self.parameterization, self.time, self.step_size = parameterization, time, float(step_size)
        self.discretisation, self.scalar, self.memoryless = discretisation, inputs is None, 0
        self.constants = dict(constants or {})
        self.weight, self.phase = start(
            parameterization,
            eigenvalues,
            time=time,
            step_size=step_size,
            discretisation=discretisation,
            constants=self.constants,
        )
        states, dtype = self.weight.shape[0], self.weight.dtype
        pair = () if self.phase is None else (2,)
        scale = 1.0 if self.phase is None else 0.5**0.5
        input_key, readout_key = jax.random.split(key)
        size = 1 if inputs is None else inputs
        self.input_weight = jax.random.normal(input_key, (states, size, *pair), dtype) * scale / size**0.5
        self.readout = jax.random.normal(readout_key, (outputs or 1, states, *pair), dtype) * scale / states**0.5
        self.bias = jnp.zeros((states, *pair), dtype) if bias else None

    @property
    def inputs(self) -> int | None:
        """Number of input features; None for a scalar series."""
        return None if self.scalar else self.input_weight.shape[1]

    @property
    def outputs(self) -> int | None:
        """Number of output features; None for a scalar series."""
        return None if self.scalar else self.readout.shape[0]

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length: shape (length,) for a scalar series, else (length, outputs, inputs).

        Args:
            length: number of steps, at least 0.
        """
        columns = self.discretised()[1][:, None] * joined(self.input_weight, self.phase)
        rows = joined(self.readout, self.phase)
        if self.scalar:
            return engine.kernel(self.poles(), rows[0] * columns[:, 0], length)
        kernel = engine.kernel(self.poles(), rows[:, None, :] * columns.T[None, :, :], length)
        return jnp.moveaxis(kernel, -1, 0)

    def zero_input_response(self, length: int) -> Array:
        """Return what the bias alone gives from the zero state: shape (length,) for a scalar series, else two axes.

        Args:
            length: number of steps, at least 0.
        """
        rows = joined(self.readout, self.phase)
        if self.bias is None:
            return jnp.zeros((length,) if self.scalar else (length, rows.shape[0]), self.weight.dtype)
        driven = self.discretised()[1] * joined(self.bias, self.phase)
        response = jnp.cumsum(engine.kernel(self.poles(), rows * driven, length).T, axis=0)
        return response[:, 0] if self.scalar else response

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (states,).
            x: input, scalar or shape (inputs,).

        Returns:
            (state, y): the new state and the output read from it, scalar or shape (outputs,).
        """
        state = self.advance(state, x)
        y = joined(self.readout, self.phase) @ state
        y = y if self.phase is None else y.real
        return state, y[0] if self.scalar else y

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time,) for a scalar series, else (time, inputs); may be empty.
            state: state before the first step, shape (states,); zero by default.

        Returns:
            (y, state): outputs of shape (time,) or (time, outputs), and the state after the last step.
        """
        drive, inputs = self.driven(x[:, None] if self.scalar else x)
        y, state = engine.recur(self.poles(), inputs, state, drive=drive, readout=joined(self.readout, self.phase))
        return y[:, 0] if self.scalar else y, state

    def last_output(self, x: Array) -> Array:
        """Return the output after the last step of each series of a batch, without running through the others.

        Args:
            x: shape (batch, time, inputs), from the zero state.

        Returns:
            y at the last step, shape (batch, outputs).
        """
        length = x.shape[1]
        driven = self.discretised()[1][:, None] * joined(self.input_weight, self.phase)
        states = engine.last_state(self.poles(), x.swapaxes(1, 2))  # of each input on its own, (batch, inputs, states)
        y = jnp.einsum("on,ni,bin->bo", joined(self.readout, self.phase), driven, states).real
        return y if self.bias is None or not length else y + self.zero_input_response(length)[-1]
