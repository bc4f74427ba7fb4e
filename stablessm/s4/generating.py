r"""The kernel from its generating function at the roots of unity: no power of the matrix but one.

K^(z) = sum_{l<L} K_l z^l is the discrete Fourier transform of K at z = e^{-2 pi i k/L}. Four ways to it, each equal to
the one before:

    by_definition   sum_l C Abar^l Bbar z^l
    by_inverse      C~ (I - Abar z)^-1 Bbar                       C~ = C (I - Abar^L), for z^L = 1
    by_diagonal     2 sum_n C~_n B_n / d_n                        A = Lambda, d_n = (2/h)(1 - z) - (1 + z) lambda_n
    by_low_rank     2 [k_CB - (1+z) k_CP k_QB / (1 + (1+z) k_QP)] A = Lambda - P Q*, k_ab = sum_n a_n b_n / d_n

As published the last two are divided by 1 + z: with g = (2/h)(1 - z)/(1 + z) and c = 2/(1 + z) they are
c sum_n C~_n B_n / (g - lambda_n), a Cauchy kernel, and its correction by Woodbury's identity. At z = -1, a node of
every even length, that is 0/0 (`published_nodes`); as it stands here nothing happens there.

References: Gu, Goel and Re, S4 (ICLR 2022), appendix C.3; Rush and Karamcheti, The Annotated S4.
"""

from __future__ import annotations

import numpy as np

from stablessm.s4.discretisation import System
from stablessm.s4.low_rank import LowRank


def roots_of_unity(length: int) -> np.ndarray:
    """Return z_k = e^{-2 pi i k/L}, shape (length,).

    Args:
        length: L, at least 1.

    Example:
        >>> roots_of_unity(4).round(9).tolist()[1]
        -1j
    """
    return np.exp(-2j * np.pi * np.arange(length) / length)


def truncated_readout(system: System, length: int) -> np.ndarray:
    """Return C~ = C (I - Abar^L), which ties a readout to one length.

    Args:
        system: of one step.
        length: L.
    """
    return system.readout - system.readout @ np.linalg.matrix_power(system.matrix, length)


def readout(system: System, truncated: np.ndarray, length: int) -> np.ndarray:
    """Return the C that a C~ of one length stands for: what runs at any other length.

    Published parameters are conjugated: the S4 post stores conj(C~), so that conj of them is what goes in here.

    Args:
        system: of one step; its own readout is not looked at.
        truncated: C~, shape (states,).
        length: L that it was trained at.
    """
    left = np.eye(len(truncated)) - np.linalg.matrix_power(system.matrix, length)
    return np.linalg.solve(left.T, truncated)


def by_definition(kernel: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return sum_l K_l z^l at each node.

    Args:
        kernel: K, shape (length,).
        nodes: z, shape (nodes,).
    """
    return (nodes[:, None] ** np.arange(len(kernel))) @ kernel


def by_inverse(system: System, truncated: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return C~ (I - Abar z)^-1 Bbar at each node.

    Args:
        system: of one step.
        truncated: C~ of as many steps as there are roots.
        nodes: z, roots of unity.
    """
    eye = np.eye(len(system.drive))
    return np.array([truncated @ np.linalg.solve(eye - system.matrix * z, system.drive) for z in nodes])


def denominators(eigenvalues: np.ndarray, step: float, nodes: np.ndarray) -> np.ndarray:
    """Return d = (2/h)(1 - z) - (1 + z) lambda, shape (nodes, states).

    Args:
        eigenvalues: lambda, shape (states,).
        step: h.
        nodes: z, shape (nodes,).
    """
    return 2 / step * (1 - nodes)[:, None] - (1 + nodes)[:, None] * eigenvalues


def by_diagonal(
    eigenvalues: np.ndarray, drive: np.ndarray, truncated: np.ndarray, step: float, nodes: np.ndarray
) -> np.ndarray:
    """Return the generating function of a diagonal system under the bilinear rule at each node.

    Args:
        eigenvalues: lambda, shape (states,).
        drive: B, of continuous time.
        truncated: C~.
        step: h.
        nodes: z, roots of unity.
    """
    return 2 * (truncated * drive / denominators(eigenvalues, step, nodes)).sum(1)


def by_low_rank(system: LowRank, truncated: np.ndarray, step: float, nodes: np.ndarray) -> np.ndarray:
    """Return the generating function of A = Lambda - P Q* under the bilinear rule at each node.

    Args:
        system: in continuous time.
        truncated: C~.
        step: h.
        nodes: z, roots of unity.
    """
    below, plus = denominators(system.eigenvalues, step, nodes), 1 + nodes

    def summed(row: np.ndarray, column: np.ndarray) -> np.ndarray:
        return (row * column / below).sum(1)

    right = system.right.conj()
    correction = summed(truncated, system.left) * summed(right, system.drive)
    return 2 * (summed(truncated, system.drive) - plus * correction / (1 + plus * summed(right, system.left)))


def published_nodes(step: float, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (g, c) = ((2/h)(1 - z)/(1 + z), 2/(1 + z)), both without bound at z = -1.

    Args:
        step: h.
        nodes: z, roots of unity.
    """
    return 2 / step * (1 - nodes) / (1 + nodes), 2 / (1 + nodes)


def cauchy(weights: np.ndarray, nodes: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """Return sum_n w_n / (g - lambda_n) at each node.

    Args:
        weights: w, shape (states,).
        nodes: g, shape (nodes,).
        poles: lambda, shape (states,).
    """
    return (weights / (nodes[:, None] - poles)).sum(1)


def kernel_from(values: np.ndarray) -> np.ndarray:
    """Return the kernel whose generating function has these values at the roots of unity: real.

    Args:
        values: K^ at `roots_of_unity(length)`.
    """
    return np.fft.ifft(values).real
