"""A sum of exponentials as a value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Modes(NamedTuple):
    """sum_i a_i e^{-s_i t}, the kernel of a linear RNN with a_i = c_i U_i.

    Attributes:
        decay: s_i > 0, ascending, shape (modes,).
        amplitude: a_i, shape (modes,).

    Example:
        >>> Modes(np.array([1.0]), np.array([2.0])).kernel(np.array([0.0])).tolist()
        [2.0]
    """

    decay: np.ndarray
    amplitude: np.ndarray

    def kernel(self, times: np.ndarray) -> np.ndarray:
        """Return the sum at each time, shape of `times`."""
        return np.exp(-np.multiply.outer(times, self.decay)) @ self.amplitude

    def padded(self, width: int) -> Modes:
        """Return the same sum with modes of amplitude 0 and decay 1 behind its own, up to `width` of them."""
        idle = width - len(self.decay)
        return Modes(np.append(self.decay, np.ones(idle)), np.append(self.amplitude, np.zeros(idle)))
