r"""HiPPO-LegS as normal plus low rank (NPLR), in the basis that diagonalises the normal part (DPLR), and one step.

    NPLR   A = S - P P^T,  S = -I/2 + a skew matrix = V Lambda V*
    DPLR   V* A V = Lambda - (V* P)(V* P)*,  V* B,  C V

One step by the bilinear rule is diagonal plus rank one again. With R = (2/h - A)^-1, which Woodbury's identity gives
from D = 1/(2/h - Lambda),

    R = D - D P (1 + Q* D P)^-1 Q* D,    Abar = R (2/h + A),    Bbar = 2 R B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stablessm.layers.hippo import normal_plus_low_rank
from stablessm.s4.discretisation import System


class LowRank(NamedTuple):
    """dx/dt = (Lambda - P Q*) x + B u, y = C x, every state written out, no conjugate left away.

    Attributes:
        eigenvalues: Lambda, shape (states,).
        left: P.
        right: Q, unconjugated; P where they are tied.
        drive: B.
        readout: C, unconjugated.
    """

    eigenvalues: np.ndarray
    left: np.ndarray
    right: np.ndarray
    drive: np.ndarray
    readout: np.ndarray

    def dense(self) -> System:
        """Return the system with its matrix written out."""
        matrix = np.diag(self.eigenvalues) - np.outer(self.left, self.right.conj())
        return System(matrix, self.drive, self.readout)


def hippo(states: int, readout: np.ndarray) -> LowRank:
    """Return HiPPO-LegS in the basis of its normal part.

    Args:
        states: N, at least 1.
        readout: C in the basis of the Legendre polynomials, real, shape (states,).

    Example:
        >>> np.linalg.eigvals(hippo(3, np.ones(3)).dense().matrix).real.round(9).tolist()[::-1]
        [-3.0, -2.0, -1.0]
    """
    found = normal_plus_low_rank(states)
    return LowRank(found.eigenvalues, found.low_rank, found.low_rank, found.inputs, readout @ found.basis)


def woodbury(diagonal: np.ndarray, left: np.ndarray, right: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return (diag(d) + P Q*)^-1 y in as many operations as there are states.

    Args:
        diagonal: d, shape (states,).
        left: P.
        right: Q, unconjugated.
        vector: y.

    Example:
        >>> woodbury(np.ones(2), np.ones(2), np.ones(2), np.array([1.0, 0.0])).round(9).tolist()
        [0.666666667, -0.333333333]
    """
    once, across = vector / diagonal, left / diagonal
    return once - across * (right.conj() @ once) / (1 + right.conj() @ across)


def factored_step(system: LowRank, step: float) -> Callable[[np.ndarray, float], np.ndarray]:
    """Return (x, u) -> the next state, without any matrix.

    Args:
        system: in continuous time.
        step: h.
    """
    diagonal = 2 / step - system.eigenvalues

    def resolve(vector: np.ndarray) -> np.ndarray:
        return woodbury(diagonal, system.left, system.right, vector)

    drive = 2 * resolve(system.drive)

    def advance(state: np.ndarray, value: float) -> np.ndarray:
        moved = system.eigenvalues * state - system.left * (system.right.conj() @ state)
        return resolve(2 / step * state + moved) + drive * value

    return advance


def discrete(system: LowRank, step: float) -> System:
    """Return the system of one step with its matrix written out, column by column from `factored_step`.

    Args:
        system: in continuous time.
        step: h.
    """
    advance, eye = factored_step(system, step), np.eye(len(system.drive))
    matrix = np.stack([advance(column, 0.0) for column in eye], axis=1)
    return System(matrix, advance(np.zeros(len(eye)), 1.0), system.readout)
