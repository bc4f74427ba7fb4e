"""Diagonal recurrences: what layers with eigenvalues from a parameterization share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.base import Layer
from stablessm.parameterizations import Parameterization, ParameterizationError
from stablessm.parameterizations.links import time_of

Time = Literal["continuous", "discrete"]
Discretisation = Literal["zero_order_hold", "euler"]


class Diagonal(Layer):
    r"""A layer with the recurrence h_k = lambda_bar h_{k-1} + gain (U x_k + b), lambda from a parameterization.

    Discrete time: lambda_bar = lambda, gain 1. Continuous time, dh/dt = lambda h + U x + b over steps of dt:

        zero_order_hold  lambda_bar = e^(lambda dt), gain (e^(lambda dt) - 1)/lambda: exact for held inputs
        euler            lambda_bar = 1 + lambda dt, gain dt: stable only where |1 + lambda dt| < 1

    The parameterization gives the decay (continuous time) or the modulus (discrete time) of each eigenvalue; the
    frequency or phase of a complex eigenvalue is a second, free weight. A complex eigenvalue stands for itself, not for
    a conjugate pair: what is read is a real part. Complex weights are stored as two reals along the last axis.

    The last states may be memoryless: their eigenvalue is frozen at 0, is no map's value and has no weight, so that
    they hold U x_k + b and nothing of the past (discrete time).

    Attributes:
        weight: raw weights of the map, shape (recurrent states,).
        phase: imaginary part of lambda (continuous) or argument (discrete), of the same shape; None for real ones.
        input_weight: U, shape (states, inputs), and (states, inputs, 2) where complex.
        bias: b, shape (states,), and (states, 2) where complex; None for a layer without one.
        constants: values of the map's constants that override the record's; empty unless set.
        memoryless: number of states, the last ones, whose eigenvalue is frozen at 0.

    References: Wang and Li, StableSSM (ICML 2024), section 2; Orvieto et al., LRU (ICML 2023).
    """

    weight: eqx.AbstractVar[Array]
    phase: eqx.AbstractVar[Array | None]
    input_weight: eqx.AbstractVar[Array]
    bias: eqx.AbstractVar[Array | None]
    constants: eqx.AbstractVar[dict[str, Array]]
    parameterization: eqx.AbstractVar[Parameterization]
    time: eqx.AbstractVar[Time]
    step_size: eqx.AbstractVar[float]
    discretisation: eqx.AbstractVar[Discretisation]
    memoryless: eqx.AbstractVar[int]

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return weight and phase as "recurrent"."""
        return {"recurrent": (self.weight, self.phase)}

    def eigenvalues(self) -> Array:
        """Return lambda, shape (states,): continuous-time or discrete-time, real or complex as at the start."""
        real = self.parameterization.eigenvalue(self.weight, **self.constants)
        if self.phase is None:
            return self._with_memoryless(real, 0)
        if self.time == "continuous":
            return jax.lax.complex(real, self.phase)
        return self._with_memoryless(jax.lax.complex(real * jnp.cos(self.phase), real * jnp.sin(self.phase)), 0)

    def discretised(self) -> tuple[Array, Array]:
        """Return (lambda_bar, gain), both of shape (states,): the step's multiplier and the factor on U x + b."""
        if self.time == "discrete":
            return self.eigenvalues(), self._with_memoryless(jnp.ones_like(self.weight), 1)
        if self.discretisation == "euler":
            return 1 + self.eigenvalues() * self.step_size, jnp.full_like(self.weight, self.step_size)
        return self.parameterization.zero_order_hold(
            self.weight, self.step_size, frequency=self.phase, **self.constants
        )

    def margin(self) -> Array:
        """Return 1 - |lambda_bar| of each state, shape (states,), without subtraction near 0; negative is unstable."""
        if self.time == "discrete":
            return self._with_memoryless(self.parameterization.margin(self.weight, **self.constants), 1)
        scaled = self.parameterization.decay(self.weight, **self.constants) * self.step_size
        if self.discretisation == "zero_order_hold":
            return -jnp.expm1(-scaled)
        if self.phase is None:
            return jnp.minimum(scaled, 2 - scaled)
        square = (1 - scaled) ** 2 + (self.phase * self.step_size) ** 2
        return (scaled * (2 - scaled) - (self.phase * self.step_size) ** 2) / (1 + jnp.sqrt(square))

    def poles(self) -> engine.Poles:
        """Return lambda_bar as the engine keeps it: log modulus and phase, or a value that may be 0 or negative."""
        map_, weight = self.parameterization, self.weight
        if self.discretisation == "euler":
            multiplier = self.discretised()[0]
            if self.phase is None:
                return engine.signed_poles(multiplier)
            return engine.poles(jnp.log(jnp.abs(multiplier)), jnp.angle(multiplier))
        angle = None if self.phase is None else self._with_memoryless(self.phase * self.step_size, 0)
        if map_.link == "one-minus":
            value = self._with_memoryless(map_.eigenvalue(weight, **self.constants), 0)
            log_modulus = self._with_memoryless(map_.log_eigenvalue(weight, **self.constants), -jnp.inf)
            return engine.signed_poles(value, log_modulus=log_modulus, phase=angle)
        log_modulus = map_.log_multiplier(weight, self.step_size, **self.constants)
        return engine.poles(self._with_memoryless(log_modulus, -jnp.inf), angle)

    def initial_state(self) -> Array:
        """Return the zero state, shape (states,)."""
        kind = self.weight.dtype if self.phase is None else self.eigenvalues().dtype
        return jnp.zeros(self.input_weight.shape[:1], kind)

    def driven(self, x: Array) -> tuple[Array, Array]:
        """Return (drive, inputs): the matrix gain (U, b) and the series it acts on, with a 1 for the bias.

        Args:
            x: shape (time, inputs).
        """
        drive = self.discretised()[1][:, None] * joined(self.input_weight, self.phase)
        if self.bias is None:
            return drive, x
        drive = jnp.concatenate([drive, (self.discretised()[1] * joined(self.bias, self.phase))[:, None]], axis=1)
        return drive, jnp.concatenate([x, jnp.ones((x.shape[0], 1), x.dtype)], axis=1)

    def advance(self, state: Array, x: Array) -> Array:
        """Return the state after one input.

        Args:
            state: shape (states,).
            x: scalar or shape (inputs,).
        """
        multiplier, gain = self.discretised()
        driven = joined(self.input_weight, self.phase) @ jnp.reshape(x, (-1,))
        driven = driven if self.bias is None else driven + joined(self.bias, self.phase)
        return multiplier * state + gain * driven

    def _with_memoryless(self, values: Array, frozen: float) -> Array:
        """What the recurrent states have, followed by one value for all memoryless ones."""
        if not self.memoryless:
            return values
        return jnp.concatenate([values, jnp.full(self.memoryless, frozen, values.dtype)])


def joined(pair: Array, phase: Array | None) -> Array:
    """Return a weight stored as two reals along its last axis as the complex number it is, where there are phases."""
    return pair if phase is None else jax.lax.complex(pair[..., 0], pair[..., 1])


def start(
    parameterization: Parameterization,
    eigenvalues: ArrayLike,
    *,
    time: Time,
    step_size: float,
    discretisation: Discretisation,
    constants: dict[str, Array],
    memoryless: int = 0,
) -> tuple[Array, Array | None]:
    """Return (weight, phase) of a layer that starts at given eigenvalues, whatever the map.

    Args:
        parameterization: the map, under a link of the right time.
        eigenvalues: shape (recurrent states,); real, or complex (real part negative in continuous time).
        time: "continuous" or "discrete".
        step_size: dt; discrete time has 1.
        discretisation: "zero_order_hold" or "euler", of continuous time.
        constants: values of the map's constants, possibly traced, in place of the record's.
        memoryless: number of further states with the eigenvalue 0.

    Raises:
        ParameterizationError: the link lives in the other time, or an eigenvalue lies outside the map's image.
        ValueError: a shape, the time, the step size, the discretisation or the number of states is wrong.
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
    if not (np.isfinite(step_size) and step_size > 0):
        raise ValueError(f"`step_size` must be positive and finite, but got {step_size}")
    if time == "discrete" and step_size != 1.0:
        raise ValueError(f"discrete time has the step size 1, but got {step_size}")
    if discretisation not in ("zero_order_hold", "euler"):
        raise ValueError(f"`discretisation` must be 'zero_order_hold' or 'euler', but got {discretisation!r}")
    if time == "discrete" and discretisation != "zero_order_hold":
        raise ValueError(f"discrete time is not discretised, but got `discretisation` {discretisation!r}")
    if not isinstance(memoryless, int) or memoryless < 0:
        raise ValueError(f"`memoryless` must be a number of states, at least 0, but got {memoryless!r}")
    if memoryless and time != "discrete":
        raise ValueError("an eigenvalue frozen at 0 has no memory in discrete time only, but `time` is 'continuous'")
    eigenvalues = jnp.asarray(eigenvalues)
    if eigenvalues.ndim != 1 or eigenvalues.shape[0] + memoryless < 1:
        raise ValueError(f"`eigenvalues` must have the shape (states,), but got {eigenvalues.shape}")
    check_eigenvalues(parameterization, eigenvalues)
    decay, phase = decay_and_phase(parameterization, eigenvalues)
    return parameterization.weight(decay, **constants), phase


def check_eigenvalues(parameterization: Parameterization, eigenvalues: Array) -> None:
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


def decay_and_phase(parameterization: Parameterization, eigenvalues: Array) -> tuple[Array, Array | None]:
    """Return the decay, and the frequency (continuous time) or argument of complex eigenvalues, of the same shape."""
    is_complex = jnp.iscomplexobj(eigenvalues)
    if parameterization.link == "continuous":
        return -eigenvalues.real, eigenvalues.imag if is_complex else None
    modulus = jnp.abs(eigenvalues) if is_complex else eigenvalues
    decay = 1 - modulus if parameterization.link == "one-minus" else -jnp.log(modulus)
    return decay, jnp.angle(eigenvalues) if is_complex else None
