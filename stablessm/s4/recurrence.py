r"""Two ways to run x_k = Abar x_{k-1} + Bbar u_k, y_k = C x_k from x_{-1} = 0: step by step, and

y_k = sum_{j <= k} K_j u_{k-j},   K_j = C Abar^j Bbar.
"""

from __future__ import annotations

import numpy as np

from stablessm.s4.discretisation import System


def recurrence(system: System, inputs: np.ndarray, state: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (outputs, states): y after each step, shape (time,), and x after each, shape (time, states).

    Args:
        system: of one step.
        inputs: u, shape (time,).
        state: x before the first step; zero by default.

    Example:
        >>> system = System(np.array([[0.5]]), np.ones(1), np.ones(1))
        >>> recurrence(system, np.array([1.0, 0.0, 2.0]))[0].tolist()
        [1.0, 0.5, 2.25]
    """
    kind = np.result_type(*system, inputs, float if state is None else state)
    states = np.zeros((len(inputs) + 1, len(system.drive)), kind)
    states[0] = 0 if state is None else state
    for k, value in enumerate(inputs):
        states[k + 1] = system.matrix @ states[k] + system.drive * value
    return states[1:] @ system.readout, states[1:]


def kernel(system: System, length: int) -> np.ndarray:
    """Return K_0, ..., K_{length - 1} by powers of the matrix, shape (length,).

    Args:
        system: of one step.
        length: number of steps, at least 0.
    """
    return recurrence(system, np.eye(1, length)[0] if length else np.zeros(0))[0]


def convolution(inputs: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Return the causal convolution of a series with a kernel of the same length, by transforms.

    They are of twice the length at least: at the length itself the end would wrap around to the beginning.

    Args:
        inputs: u, real, shape (time,).
        kernel: K, real, shape (time,).

    Example:
        >>> convolution(np.array([1.0, 0.0, 2.0]), np.array([1.0, 0.5, 0.25])).round(9).tolist()
        [1.0, 0.5, 2.25]
    """
    length, room = len(inputs), max(2 * len(inputs) - 1, 1)
    return np.fft.irfft(np.fft.rfft(inputs, room) * np.fft.rfft(kernel, room), room)[:length]
