r"""From dx/dt = A x + B u to x_k = Abar x_{k-1} + Bbar u_k.

    bilinear          Abar = (I - hA/2)^-1 (I + hA/2),   Bbar = (I - hA/2)^-1 h B
    zero-order hold   Abar = e^{hA},                     Bbar = int_0^h e^{sA} B ds

The first is the trapezoidal rule with the input of the end of the step; the second is exact for an input that is held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class System(NamedTuple):
    """A linear system of one input and one output, in continuous time or of one step.

    Attributes:
        matrix: A or Abar, shape (states, states).
        drive: B or Bbar, shape (states,).
        readout: C, shape (states,): y = C x, without conjugation.
    """

    matrix: np.ndarray
    drive: np.ndarray
    readout: np.ndarray


def bilinear(system: System, step: float) -> System:
    """Return the system of one step by the bilinear rule.

    Args:
        system: in continuous time.
        step: h > 0, in its units of time.

    Example:
        >>> one = System(np.array([[-0.5 + 3j]]), np.ones(1), np.ones(1))
        >>> round(float(abs(bilinear(one, 0.1).matrix[0, 0])), 6)
        0.952268

    References: Tustin (1947); Gu, Goel and Re, S4 (ICLR 2022), section 2.3.
    """
    eye = np.eye(len(system.matrix))
    below = eye - step / 2 * system.matrix
    return System(
        np.linalg.solve(below, eye + step / 2 * system.matrix),
        np.linalg.solve(below, step * system.drive),
        system.readout,
    )


def zero_order_hold(system: System, step: float) -> System:
    """Return the system of one step for an input that is constant on it; A need not be invertible.

    Args:
        system: in continuous time.
        step: h > 0, in its units of time.

    Example:
        >>> one = System(np.array([[0.0]]), np.ones(1), np.ones(1))
        >>> zero_order_hold(one, 0.5).drive.tolist()
        [0.5]

    References: Van Loan, Computing integrals involving the matrix exponential (1978).
    """
    from scipy.linalg import expm

    size = len(system.matrix)
    both = np.zeros((size + 1, size + 1), np.result_type(system.matrix, system.drive, float))
    both[:size, :size], both[:size, size] = step * system.matrix, step * system.drive
    moved = expm(both)
    return System(moved[:size, :size], moved[:size, size], system.readout)
