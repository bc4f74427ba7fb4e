"""Modes of a real system: conjugate pairs, one of each stored and counted twice, and real poles, counted once."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from stablessm.layers.diagonal import check_eigenvalues, decay_and_phase
from stablessm.parameterizations import Parameterization


class Modes(NamedTuple):
    """Raw weights of the modes, pairs first.

    Attributes:
        weight: shape (channels, modes), or (modes,).
        frequency: of the pairs, shape (channels, pairs), or (pairs,); None where all poles are real.
    """

    weight: Array
    frequency: Array | None

    def every_frequency(self) -> Array | None:
        """Return the frequencies of all modes, 0 for the real poles; None where all are real."""
        if self.frequency is None:
            return None
        real = self.weight.shape[-1] - self.frequency.shape[-1]
        return jnp.pad(self.frequency, [(0, 0)] * (self.frequency.ndim - 1) + [(0, real)])

    def multiplicity(self) -> np.ndarray:
        """Return m, shape (modes,): 2 for a conjugate pair, 1 for a real pole."""
        pairs = 0 if self.frequency is None else self.frequency.shape[-1]
        return np.where(np.arange(self.weight.shape[-1]) < pairs, 2.0, 1.0).astype(self.weight.dtype)


def modes_of(parameterization: Parameterization, eigenvalues: ArrayLike, *, channels: int | None = None) -> Modes:
    """Return the weights of given eigenvalues, whatever the map.

    Args:
        parameterization: the map of the decay (continuous time) or of the modulus (discrete time).
        eigenvalues: shape (modes,), or (channels, modes): of each conjugate pair one, then the real poles.
        channels: give every channel weights of its own; None for one set of them.

    Raises:
        ParameterizationError: an eigenvalue lies outside the map's image.
        ValueError: a shape, values that are not finite, or real poles that stand before pairs.

    Example:
        >>> from stablessm import PARAMETERIZATIONS
        >>> modes_of(PARAMETERIZATIONS["direct"], np.array([-0.5 + 3j, -1.0])).multiplicity().tolist()
        [2.0, 1.0]
    """
    values = np.asarray(eigenvalues)
    allowed = (1, 2) if channels is not None else (1,)
    if values.ndim not in allowed or not values.shape[-1] or (values.ndim == 2 and values.shape[0] != channels):
        wanted = "(modes,)" if channels is None else f"(modes,) or ({channels}, modes)"
        raise ValueError(f"`eigenvalues` must have the shape {wanted}, but got {values.shape}")
    paired = (values.imag != 0).reshape(-1, values.shape[-1])
    pairs = int(paired[0].sum())
    if (paired != (np.arange(values.shape[-1]) < pairs)).any():
        raise ValueError("`eigenvalues` must hold one of each conjugate pair first, and then the real poles")
    check_eigenvalues(parameterization, values[..., :pairs])
    check_eigenvalues(parameterization, values[..., pairs:].real)
    if pairs and parameterization.link != "continuous" and (values[..., pairs:].real <= 0).any():
        raise ValueError("in discrete time a real pole beside pairs must be positive")
    decay, phase = decay_and_phase(parameterization, jnp.asarray(values if pairs else values.real))
    weight, frequency = parameterization.weight(decay), None if not pairs else phase[..., :pairs]
    if channels is not None:
        weight = jnp.broadcast_to(weight, (channels, values.shape[-1]))
        frequency = None if frequency is None else jnp.broadcast_to(frequency, (channels, pairs))
    return Modes(weight, frequency)
