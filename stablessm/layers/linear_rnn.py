"""The linear RNN: diagonal recurrence, linear readout, eigenvalues through a parameterization."""

from __future__ import annotations

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.parameterizations import Parameterization, ParameterizationError
from stablessm.parameterizations.links import time_of


class LinearRNN(eqx.Module):
    r"""A diagonal linear state-space model whose state is updated before it is read.

    Discrete time: h_k = lambda h_{k-1} + U x_k + b, y_k = Re c^T h_k, with kernel K_k = Re sum_i c_i lambda_i^k U_i.
    Continuous time: dh/dt = lambda h + U x + b over steps of `step_size` dt, in the same recurrence with

        zero_order_hold  lambda_bar = e^(lambda dt), gain (e^(lambda dt) - 1)/lambda on U x + b: exact for held inputs
        euler            lambda_bar = 1 + lambda dt, gain dt: stable only where |1 + lambda dt| < 1

    The parameterization gives the decay (continuous time) or the modulus (discrete time) of each eigenvalue; the
    frequency or phase of a complex eigenvalue is a second, free weight. A complex eigenvalue stands for itself, not for
    a conjugate pair: the readout takes the real part. Complex weights are stored as two reals along the last axis.

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
    time: Literal["continuous", "discrete"] = eqx.field(static=True)
    step_size: float = eqx.field(static=True)
    discretisation: Literal["zero_order_hold", "euler"] = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        time: Literal["continuous", "discrete"],
        step_size: float = 1.0,
        discretisation: Literal["zero_order_hold", "euler"] = "zero_order_hold",
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
        if time not in ("continuous", "discrete"):
            raise ValueError(f"`time` must be 'continuous' or 'discrete', but got {time!r}")
        if time_of(parameterization.link) != time:
            legal = [link for link in parameterization.links if time_of(link) == time]
            advice = f"; take .replace(link={legal[0]!r})" if legal else ""
            raise ParameterizationError(
                f"{parameterization.name!r} under the link {parameterization.link!r} is a map of "
                f"{time_of(parameterization.link)} time, but `time` is {time!r}{advice}"
            )
        if (inputs is None) != (outputs is None):
            raise ValueError("`inputs` and `outputs` must both be given, or both left out for a scalar series")
        if not (np.isfinite(step_size) and step_size > 0):
            raise ValueError(f"`step_size` must be positive and finite, but got {step_size}")
        if time == "discrete" and step_size != 1.0:
            raise ValueError(f"discrete time has the step size 1, but got {step_size}")
        if discretisation not in ("zero_order_hold", "euler"):
            raise ValueError(f"`discretisation` must be 'zero_order_hold' or 'euler', but got {discretisation!r}")
        if time == "discrete" and discretisation != "zero_order_hold":
            raise ValueError(f"discrete time is not discretised, but got `discretisation` {discretisation!r}")
        eigenvalues = jnp.asarray(eigenvalues)
        if eigenvalues.ndim != 1 or eigenvalues.shape[0] < 1:
            raise ValueError(f"`eigenvalues` must have the shape (states,), but got {eigenvalues.shape}")
        _check_eigenvalues(parameterization, eigenvalues)
        self.parameterization, self.time, self.step_size = parameterization, time, float(step_size)
        self.discretisation, self.scalar = discretisation, inputs is None
        self.constants = dict(constants or {})
        decay, self.phase = _decay_and_phase(parameterization, eigenvalues)
        self.weight = parameterization.weight(decay, **self.constants)
        states, dtype = eigenvalues.shape[0], self.weight.dtype
        pair = () if self.phase is None else (2,)
        scale = 1.0 if self.phase is None else 0.5**0.5
        input_key, readout_key = jax.random.split(key)
        size = 1 if inputs is None else inputs
        self.input_weight = jax.random.normal(input_key, (states, size, *pair), dtype) * scale / size**0.5
        self.readout = jax.random.normal(readout_key, (outputs or 1, states, *pair), dtype) * scale / states**0.5
        self.bias = jnp.zeros((states, *pair), dtype) if bias else None

    def eigenvalues(self) -> Array:
        """Return lambda, shape (states,): continuous-time or discrete-time, real or complex as at the start."""
        real = self.parameterization.eigenvalue(self.weight, **self.constants)
        if self.phase is None:
            return real
        if self.time == "continuous":
            return jax.lax.complex(real, self.phase)
        return jax.lax.complex(real * jnp.cos(self.phase), real * jnp.sin(self.phase))

    def discretised(self) -> tuple[Array, Array]:
        """Return (lambda_bar, gain), both of shape (states,): the step's multiplier and the factor on U x + b."""
        if self.time == "discrete":
            return self.eigenvalues(), jnp.ones_like(self.weight)
        if self.discretisation == "euler":
            return 1 + self.eigenvalues() * self.step_size, jnp.full_like(self.weight, self.step_size)
        return self.parameterization.zero_order_hold(
            self.weight, self.step_size, frequency=self.phase, **self.constants
        )

    def margin(self) -> Array:
        """Return 1 - |lambda_bar| of each state, shape (states,), without subtraction near 0; negative is unstable."""
        if self.time == "discrete":
            return self.parameterization.margin(self.weight, **self.constants)
        scaled = self.parameterization.decay(self.weight, **self.constants) * self.step_size
        if self.discretisation == "zero_order_hold":
            return -jnp.expm1(-scaled)
        if self.phase is None:
            return jnp.minimum(scaled, 2 - scaled)
        square = (1 - scaled) ** 2 + (self.phase * self.step_size) ** 2
        return (scaled * (2 - scaled) - (self.phase * self.step_size) ** 2) / (1 + jnp.sqrt(square))

    def kernel(self, length: int) -> Array:
        """Return K_k for k < length: shape (length,) for a scalar series, else (length, outputs, inputs).

        Args:
            length: number of steps, at least 0.
        """
        columns = self.discretised()[1][:, None] * _joined(self.input_weight, self.phase)
        rows = _joined(self.readout, self.phase)
        if self.scalar:
            return engine.kernel(self.poles(), rows[0] * columns[:, 0], length)
        kernel = engine.kernel(self.poles(), rows[:, None, :] * columns.T[None, :, :], length)
        return jnp.moveaxis(kernel, -1, 0)

    def zero_input_response(self, length: int) -> Array:
        """Return what the bias alone gives from the zero state: shape (length,) for a scalar series, else two axes.

        Args:
            length: number of steps, at least 0.
        """
        rows = _joined(self.readout, self.phase)
        if self.bias is None:
            return jnp.zeros((length,) if self.scalar else (length, rows.shape[0]), self.weight.dtype)
        driven = self.discretised()[1] * _joined(self.bias, self.phase)
        response = jnp.cumsum(engine.kernel(self.poles(), rows * driven, length).T, axis=0)
        return response[:, 0] if self.scalar else response

    def initial_state(self) -> Array:
        """Return the zero state, shape (states,)."""
        return jnp.zeros(self.weight.shape, self.weight.dtype if self.phase is None else self.eigenvalues().dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """Advance by one step.

        Args:
            state: shape (states,).
            x: input, scalar or shape (inputs,).

        Returns:
            (state, y): the new state and the output read from it, scalar or shape (outputs,).
        """
        state = self._advance(self.discretised(), state, x)
        return state, self._read(state)

    def __call__(self, x: Array, state: Array | None = None) -> tuple[Array, Array]:
        """Run over a series.

        Args:
            x: shape (time,) for a scalar series, else (time, inputs); may be empty.
            state: state before the first step, shape (states,); zero by default.

        Returns:
            (y, state): outputs of shape (time,) or (time, outputs), and the state after the last step.
        """
        drive = self.discretised()[1][:, None] * _joined(self.input_weight, self.phase)
        inputs = x[:, None] if self.scalar else x
        if self.bias is not None:  # one more input, always 1
            drive = jnp.concatenate([drive, (self.discretised()[1] * _joined(self.bias, self.phase))[:, None]], axis=1)
            inputs = jnp.concatenate([inputs, jnp.ones((x.shape[0], 1), inputs.dtype)], axis=1)
        y, state = engine.recur(self.poles(), inputs, state, drive=drive, readout=_joined(self.readout, self.phase))
        return y[:, 0] if self.scalar else y, state

    def last_output(self, x: Array) -> Array:
        """Return the output after the last step of each series of a batch, without running through the others.

        Args:
            x: shape (batch, time, inputs), from the zero state.

        Returns:
            y at the last step, shape (batch, outputs).
        """
        length = x.shape[1]
        driven = self.discretised()[1][:, None] * _joined(self.input_weight, self.phase)
        states = engine.last_state(self.poles(), x.swapaxes(1, 2))  # of each input on its own, (batch, inputs, states)
        y = jnp.einsum("on,ni,bin->bo", _joined(self.readout, self.phase), driven, states).real
        return y if self.bias is None or not length else y + self.zero_input_response(length)[-1]

    def _advance(self, discretised: tuple[Array, Array], state: Array, x: Array) -> Array:
        multiplier, gain = discretised
        driven = _joined(self.input_weight, self.phase) @ jnp.reshape(x, (-1,))
        driven = driven if self.bias is None else driven + _joined(self.bias, self.phase)
        return multiplier * state + gain * driven

    def _read(self, state: Array) -> Array:
        y = _joined(self.readout, self.phase) @ state
        y = y if self.phase is None else y.real
        return y[0] if self.scalar else y

    def poles(self) -> engine.Poles:
        """Return lambda_bar as the engine keeps it: log modulus and phase, or a value that may be 0 or negative."""
        map_, weight = self.parameterization, self.weight
        if self.discretisation == "euler":
            multiplier = self.discretised()[0]
            if self.phase is None:
                return engine.signed_poles(multiplier)
            return engine.poles(jnp.log(jnp.abs(multiplier)), jnp.angle(multiplier))
        angle = None if self.phase is None else self.phase * self.step_size
        if map_.link == "one-minus":
            log_modulus = map_.log_eigenvalue(weight, **self.constants)
            return engine.signed_poles(map_.eigenvalue(weight, **self.constants), log_modulus=log_modulus, phase=angle)
        return engine.poles(map_.log_multiplier(weight, self.step_size, **self.constants), angle)


def _joined(pair: Array, phase: Array | None) -> Array:
    return pair if phase is None else jax.lax.complex(pair[..., 0], pair[..., 1])


def _check_eigenvalues(parameterization: Parameterization, eigenvalues: Array) -> None:
    """Raise for what no decay gives: eigenvalues that are not finite, or real and not positive under exp(-s)."""
    if isinstance(eigenvalues, jax.core.Tracer):
        return
    values = np.asarray(eigenvalues)
    if not np.isfinite(values).all():
        raise ValueError(f"`eigenvalues` must be finite, but got {values[~np.isfinite(values)][0]:g}")
    if parameterization.link == "exponential" and not np.iscomplexobj(values) and (values <= 0).any():
        raise ParameterizationError(
            f"a real eigenvalue under the link 'exponential' is exp(-s) > 0, but got {values[values <= 0][0]:g}; give "
            "`eigenvalues` as complex numbers"
        )


def _decay_and_phase(parameterization: Parameterization, eigenvalues: Array) -> tuple[Array, Array | None]:
    is_complex = jnp.iscomplexobj(eigenvalues)
    if parameterization.link == "continuous":
        return -eigenvalues.real, eigenvalues.imag if is_complex else None
    modulus = jnp.abs(eigenvalues) if is_complex else eigenvalues
    decay = 1 - modulus if parameterization.link == "one-minus" else -jnp.log(modulus)
    return decay, jnp.angle(eigenvalues) if is_complex else None
