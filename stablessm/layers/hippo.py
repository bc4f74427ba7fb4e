r"""HiPPO-LegS, and the diagonal systems that are started like it.

    A_nk = -sqrt((2n+1)(2k+1)) for n > k, -(n+1) for n = k, 0 for n < k;  B_n = sqrt(2n+1)

is normal but for rank one: A = S - P P^T, P_n = sqrt(n + 1/2), S = -I/2 + a skew matrix = V (-1/2 + i omega) V*.

References: Gu et al., HiPPO (NeurIPS 2020); Gu et al., S4 (ICLR 2022); Gu et al., S4D (NeurIPS 2022).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jax import Array

KINDS = ("lin", "inv", "legs")


class NormalPlusLowRank(NamedTuple):
    """A = V (diag(eigenvalues) - low_rank low_rank*) V*, B = V inputs, float64 on the host.

    Attributes:
        eigenvalues: -1/2 + i omega, sorted by omega, shape (states,).
        low_rank: P in the basis V, shape (states,).
        inputs: B in the basis V, shape (states,).
        basis: V, unitary, shape (states, states).
    """

    eigenvalues: np.ndarray
    low_rank: np.ndarray
    inputs: np.ndarray
    basis: np.ndarray


def legs(states: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, B) of HiPPO-LegS, float64 of shapes (states, states) and (states,).

    Args:
        states: N, at least 1.

    Example:
        >>> sorted(np.linalg.eigvals(legs(4)[0]).round(9).tolist())
        [-4.0, -3.0, -2.0, -1.0]
    """
    n = np.arange(_whole(states))
    scale = np.sqrt(2 * n + 1)
    return -np.tril(np.outer(scale, scale), -1) - np.diag(n + 1.0), scale


def normal_plus_low_rank(states: int) -> NormalPlusLowRank:
    """Return HiPPO-LegS in the basis that diagonalises its normal part.

    Args:
        states: N, at least 1.

    Example:
        >>> round(float(normal_plus_low_rank(3).eigenvalues.real.max()), 12)
        -0.5
    """
    matrix, inputs = legs(states)
    low_rank = np.sqrt(np.arange(states) + 0.5)
    skew = matrix + np.outer(low_rank, low_rank) + np.eye(states) / 2
    omega, basis = np.linalg.eigh(-1j * skew)
    omega = (omega - omega[::-1]) / 2  # they come in pairs, and one is 0 where their number is odd
    return NormalPlusLowRank(-0.5 + 1j * omega, basis.conj().T @ low_rank, basis.conj().T @ inputs, basis)


def diagonal_eigenvalues(kind: str, states: int) -> np.ndarray:
    """Return the eigenvalues a diagonal system is started with: one of each pair, then the real pole if there is one.

    | kind | lambda_n |
    |---|---|
    | lin | -1/2 + i pi n, n = 0, 1, ...: the first one is a real pole |
    | inv | -1/2 + i (N/pi) (N/(2n+1) - 1) |
    | legs | those of the normal part of HiPPO-LegS |

    Args:
        kind: one of `KINDS`.
        states: N, the order of the real system. Pairs take two; "legs" has a real pole where N is odd.

    Returns:
        complex128 of shape (N/2,) for an even N. "lin" counts its real pole as one of them, as published.

    Raises:
        ValueError: an unknown kind, or an odd number of states where there are only pairs.

    Example:
        >>> diagonal_eigenvalues("lin", 6).round(2).tolist()
        [(-0.5+3.14j), (-0.5+6.28j), (-0.5+0j)]
    """
    if kind not in KINDS:
        raise ValueError(f"`kind` must be one of {', '.join(KINDS)}, but got {kind!r}")
    if kind == "legs":
        values = normal_plus_low_rank(states).eigenvalues
        return np.concatenate([values[values.imag > 0], values[values.imag == 0]])
    if _whole(states) % 2:
        raise ValueError(f"{kind!r} has conjugate pairs, so that `states` must be even, but got {states}")
    n = np.arange(states // 2)
    if kind == "inv":
        return -0.5 + 1j * states / np.pi * (states / (2 * n + 1) - 1)
    return -0.5 + 1j * np.pi * np.roll(n, -1)


def random_eigenvalues(states: int, *, growing: bool = False, key: Array) -> np.ndarray:
    """Return eigenvalues as a random matrix has them: the ablation of HiPPO, which has nothing to do with a memory.

    Entries of variance 1/N give eigenvalues that are uniform in the unit disc (Girko's circular law). Here they are
    drawn from that law, one of each pair, in the left half of the disc: those to the right would grow.

    Args:
        states: N, even, the order of the real system.
        growing: whether the right half is kept: the random matrix as it is.
        key: PRNG key.

    Returns:
        complex128 of shape (N/2,).

    Example:
        >>> import jax
        >>> drawn = random_eigenvalues(64, key=jax.random.key(0))
        >>> bool((abs(drawn) <= 1).all() and (drawn.real < 0).all() and (drawn.imag > 0).all())
        True
    """
    import jax

    if _whole(states) % 2:
        raise ValueError(f"a random start has conjugate pairs, so that `states` must be even, but got {states}")
    radius, turn = np.asarray(jax.random.uniform(key, (2, states // 2), minval=1e-4, maxval=1 - 1e-4), np.float64)
    return np.sqrt(radius) * np.exp(1j * np.pi * turn if growing else 0.5j * np.pi * (1 + turn))


def _whole(states: int) -> int:
    if not isinstance(states, int | np.integer) or isinstance(states, bool) or states < 1:
        raise ValueError(f"`states` must be an integer of at least 1, but got {states!r}")
    return int(states)
