"""One step of a diagonal system whose step size is trained: from weights of any shape to multipliers and gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm import engine
from stablessm.layers.base import Layer
from stablessm.layers.conjugates import Modes
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.links import time_of

Rule = Literal["zero_order_hold", "bilinear"]
RULES: tuple[Rule, ...] = ("zero_order_hold", "bilinear")
_LARGEST = 1e18  # of s dt under the bilinear rule: its square is still a float32, and lambda_bar is -1


class Stepping(NamedTuple):
    """What one step does to a state: h <- multiplier h + gain B u.

    Attributes:
        poles: the multiplier as the engine keeps it.
        multiplier: lambda_bar.
        gain: factor on B u.
    """

    poles: engine.Poles
    multiplier: Array
    gain: Array


def stepping(
    parameterization: Parameterization,
    weight: Array,
    frequency: Array | None,
    step_size: Array | float = 1.0,
    *,
    rule: Rule = "zero_order_hold",
) -> Stepping:
    r"""Return one step of dh/dt = lambda h + B u, or of the discrete system, lambda = f(w) and its frequency.

        zero_order_hold  lambda_bar = e^z, gain dt (e^z - 1)/z
        bilinear         lambda_bar = (1 + z/2)/(1 - z/2), gain dt/(1 - z/2), z = lambda dt
        discrete time    lambda_bar = lambda, gain 1: there is no step

    log|lambda_bar| of the bilinear rule is log1p(2 Re z / |1 - z/2|^2)/2, which long memories survive.

    Args:
        parameterization: the map; its link says which time.
        weight: raw weights, any shape.
        frequency: imaginary part of lambda in radians per unit time (continuous), or its argument (discrete), of the
            same shape; None for real eigenvalues.
        step_size: dt > 0, broadcast against the weight; unused in discrete time.
        rule: one of `RULES`, of continuous time.

    References: Gu et al., S4 (ICLR 2022), section 2.3; Gu et al., S4D (NeurIPS 2022).
    """
    if time_of(parameterization.link) == "discrete":
        return _discrete(parameterization, weight, frequency)
    if rule == "bilinear":
        scaled = jnp.minimum(parameterization.decay(weight) * step_size, _LARGEST)
        return _bilinear(scaled, _times(frequency, step_size), step_size)
    multiplier, gain = parameterization.zero_order_hold(weight, step_size, frequency=frequency)
    modulus = parameterization.log_multiplier(weight, step_size)
    return Stepping(engine.poles(modulus, _times(frequency, step_size)), multiplier, gain)


def eigenvalues_of(parameterization: Parameterization, weight: Array, frequency: Array | None) -> Array:
    """Return lambda, of the shape of the weight: real, or complex where there are frequencies."""
    real = parameterization.eigenvalue(weight)
    if frequency is None:
        return real
    if parameterization.link == "continuous":
        return jax.lax.complex(real, jnp.broadcast_to(frequency, real.shape))
    return jax.lax.complex(real * jnp.cos(frequency), real * jnp.sin(frequency))


def _discrete(map_: Parameterization, weight: Array, phase: Array | None) -> Stepping:
    multiplier = eigenvalues_of(map_, weight, phase)
    if map_.link == "one-minus":
        poles = engine.signed_poles(map_.eigenvalue(weight), log_modulus=map_.log_eigenvalue(weight), phase=phase)
    else:
        poles = engine.poles(map_.log_multiplier(weight), phase)
    return Stepping(poles, multiplier, jnp.ones_like(weight))


def _bilinear(scaled: Array, angle: Array | None, step_size: Array | float) -> Stepping:
    """Of z = -scaled + i angle."""
    if angle is None:
        multiplier = (1 - scaled / 2) / (1 + scaled / 2)
        known = jnp.log1p(-2 * scaled / (1 + scaled / 2) ** 2) / 2
        return Stepping(engine.signed_poles(multiplier, log_modulus=known), multiplier, step_size / (1 + scaled / 2))
    below = jax.lax.complex(1 + scaled / 2, -angle / 2)
    square = (1 + scaled / 2) ** 2 + (angle / 2) ** 2
    modulus = jnp.log1p(jnp.maximum(-2 * scaled / square, -1)) / 2
    across = 1 - (scaled**2 + angle**2) / 4
    across = jnp.where((across == 0) & (angle == 0), 1, across)  # lambda_bar = 0 has no argument
    poles = engine.poles(modulus, jnp.arctan2(angle, across))
    return Stepping(poles, (2 - below) / below, step_size / below)


def _times(frequency: Array | None, step_size: Array | float) -> Array | None:
    return None if frequency is None else frequency * step_size


class Stepped(Layer):
    """A linear layer of modes with trained step sizes: one a row of its weights.

    Attributes:
        weight: raw weights of the map, shape (modes,), or (channels, modes).
        frequency: of the pairs, which come first; None where all poles are real.
        step_weight: raw weights of the step sizes, of the shape of the weight's first axis; None in discrete time.
        parameterization: the map of the decay.
        step_map: the map of the step size.
        rule: discretisation, one of `RULES`.
    """

    weight: eqx.AbstractVar[Array]
    frequency: eqx.AbstractVar[Array | None]
    step_weight: eqx.AbstractVar[Array | None]
    parameterization: eqx.AbstractVar[Parameterization]
    step_map: eqx.AbstractVar[Parameterization]
    rule: eqx.AbstractVar[Rule]

    @property
    def is_linear(self) -> bool:
        """True."""
        return True

    @property
    def modes(self) -> Modes:
        """The raw weights and frequencies as they stand for eigenvalues."""
        return Modes(self.weight, self.frequency)

    def roles(self) -> Mapping[str, Sequence[Array | None]]:
        """Return weight and frequency as "recurrent", the weight of the step size as "step"."""
        return {"recurrent": (self.weight, self.frequency), "step": (self.step_weight,)}

    def step_size(self) -> Array | None:
        """Return dt, of the shape of the weight's first axis; None in discrete time."""
        return None if self.step_weight is None else self.step_map.decay(self.step_weight)

    def eigenvalues(self) -> Array:
        """Return lambda of the modes, of the shape of the weight: of each pair the one that is stored."""
        return eigenvalues_of(self.parameterization, self.weight, self.modes.every_frequency())

    def discretised(self) -> Stepping:
        """Return poles, multiplier and gain, of the shape of the weight."""
        step = self.step_size()
        step = 1.0 if step is None else jnp.reshape(step, (-1, *[1] * (self.weight.ndim - 1)))
        return stepping(self.parameterization, self.weight, self.modes.every_frequency(), step, rule=self.rule)

    def initial_state(self) -> Array:
        """Return the zero state, of the shape of the weight."""
        return jnp.zeros(self.weight.shape, self.eigenvalues().dtype)
