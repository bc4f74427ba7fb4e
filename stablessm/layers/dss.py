"""DSS: diagonal state spaces whose modes are normalised over a length, or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm import engine
from stablessm.layers.bank import Bank
from stablessm.layers.conjugates import modes_of
from stablessm.layers.diagonal import joined
from stablessm.layers.s4d import STEP_SIZES, log_uniform
from stablessm.layers.stepping import Rule, Stepping
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.links import time_of

Variant = Literal["softmax", "exp"]
VARIANTS: tuple[Variant, ...] = ("softmax", "exp")
_REGULAR = 1e-7  # of |sum|^2: a sum over modes that turn can vanish


class DSS(Bank):
    r"""K_k = Re sum_n m_n w_n r_n e^(k z_n), z = lambda dt: one input weight for all modes, their size in w alone.

        exp      r = (e^z - 1) / lambda: S4D under zero-order hold with B = 1
        softmax  r = 1 / (lambda s),  s = sum_{j < L} e^(j z) = (e^(L z) - 1) / (e^z - 1)

    so that the softmax variant shares out the L steps of a series. L belongs to the layer and not to the series: at
    every length, step by step and by convolution it is the same kernel, with the same regularised 1/s, which is
    conj(s) / (|s|^2 + 1e-7).

    Attributes:
        weight: raw weights of the map, shape (channels, modes).
        frequency: of the pairs, radians per unit time, shape (channels, pairs); None where all poles are real.
        readout: w, shape (channels, modes, 2) as two reals, and (channels, modes) where all poles are real.
        feedthrough: D, shape (channels,).
        step_weight: raw weight of the step size, shape (channels,).
        parameterization: the map of the decay.
        step_map: the map of the step size.
        rule: zero-order hold.
        frozen: parts that are not trained.
        variant: one of `VARIANTS`.
        length: L of the softmax variant.

    References: Gupta, Gu and Berant, Diagonal State Spaces are as Effective as Structured State Spaces (NeurIPS 2022).
    """

    weight: Array
    frequency: Array | None
    readout: Array
    feedthrough: Array
    step_weight: Array | None
    parameterization: Parameterization = eqx.field(static=True)
    step_map: Parameterization = eqx.field(static=True)
    rule: Rule = eqx.field(static=True)
    frozen: tuple[str, ...] = eqx.field(static=True)
    variant: Variant = eqx.field(static=True)
    length: int = eqx.field(static=True)

    def __init__(
        self,
        parameterization: Parameterization,
        eigenvalues: ArrayLike,
        *,
        inputs: int,
        variant: Variant = "softmax",
        length: int = 1024,
        step_sizes: tuple[float, float] = STEP_SIZES,
        step_map: Parameterization | None = None,
        frozen: Sequence[str] = (),
        key: Array,
    ) -> None:
        """Make a layer whose channels start at given eigenvalues, whatever the map.

        Args:
            parameterization: the map of the decay, under the continuous link.
            eigenvalues: as `S4D` takes them.
            inputs: number of channels.
            variant: "softmax" or "exp".
            length: L, of the series it is to be trained on; at least 1, unused by "exp".
            step_sizes: range of dt, drawn log-uniformly.
            step_map: map of the step size; the exponential one by default.
            frozen: parts that are not trained: some of eigenvalues, step.
            key: PRNG key of w ~ CN(0, 1) and D ~ N(0, 1), the same for every map.

        Raises:
            ParameterizationError: an eigenvalue or a step size lies outside the map's image.
            ValueError: a link of discrete time, a variant, a length or a shape that is wrong.

        Example:
            >>> from stablessm.layers.hippo import diagonal_eigenvalues
            >>> poles = diagonal_eigenvalues("legs", 8)
            >>> layer = DSS(PARAMETERIZATIONS["exp"], poles, inputs=3, length=7, key=jax.random.key(0))
            >>> layer(jnp.ones((7, 3)))[0].shape
            (7, 3)
        """
        if time_of(parameterization.link) != "continuous":
            raise ValueError(f"DSS is a system of continuous time, but the link is {parameterization.link!r}")
        if variant not in VARIANTS:
            raise ValueError(f"`variant` must be one of {', '.join(VARIANTS)}, but got {variant!r}")
        for name, value in (("inputs", inputs), ("length", length)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"`{name}` must be an integer of at least 1, but got {value!r}")
        self.parameterization, self.rule, self.variant, self.length = (
            parameterization,
            "zero_order_hold",
            variant,
            length,
        )
        self.step_map = PARAMETERIZATIONS["exp"] if step_map is None else step_map
        self.weight, self.frequency = modes_of(parameterization, eigenvalues, channels=inputs)
        readout_key, feedthrough_key, step_key = jax.random.split(key, 3)
        shape, dtype = self.weight.shape, self.weight.dtype
        pair, scale = ((), 1.0) if self.frequency is None else ((2,), 0.5**0.5)
        self.readout = jax.random.normal(readout_key, (*shape, *pair), dtype) * scale
        self.feedthrough = jax.random.normal(feedthrough_key, (inputs,), dtype)
        self.step_weight = self.step_map.weight(log_uniform(step_sizes, (inputs,), dtype, step_key))
        self.frozen = tuple(frozen)
        self.roles()

    def read(self, stepped: Stepping) -> Array:
        """Return m w r."""
        read = joined(self.readout, self.frequency) * stepped.gain * self.modes.multiplicity()
        if self.variant == "exp":
            return read
        frequency, modulus = self.modes.every_frequency(), stepped.poles.log_modulus
        angle = None if frequency is None else frequency * self.step_size()[:, None]
        once = _less_one(modulus, angle)
        # e^(Lz) - 1 from a power whose phase is exact, but where it is near 1 and would cancel
        far = engine.powers(stepped.poles, jnp.int32(self.length)) - 1
        near = self.length * (modulus if angle is None else jnp.abs(jax.lax.complex(modulus, angle)))
        close = _less_one(self.length * modulus, None if angle is None else self.length * angle)
        total = jnp.where(jnp.abs(near) < 1, close, far) / once
        return read / once * total.conj() / (jnp.abs(total) ** 2 + _REGULAR)


def _less_one(real: Array, imaginary: Array | None) -> Array:
    """e^z - 1 without cancellation where z is small."""
    if imaginary is None:
        return jnp.expm1(real)
    return jax.lax.complex(
        jnp.expm1(real) * jnp.cos(imaginary) - 2 * jnp.sin(imaginary / 2) ** 2, jnp.exp(real) * jnp.sin(imaginary)
    )
