"""The best amplitudes of given decays, signed or not negative: linear least squares on the weighted samples.

Orthogonal factors of the sampled modes, and not their Gram matrix: the condition of the latter is the square, and a
dozen log-spaced decays reach 1e16 in it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear, nnls

from stablessm.approximation.modes import Modes
from stablessm.approximation.products import AnyTarget, InnerProduct

_RANK = 1e-15


def columns(product: InnerProduct, target: AnyTarget, decay: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sqrt(weight) e^{-s t} of length 1, what each was divided by, and sqrt(weight) rho at the nodes.

    Args:
        product: which errors count.
        target: rho.
        decay: s, shape (modes,).

    Returns:
        Shapes (nodes, modes), (modes,) and (nodes,).
    """
    times, weights, values = product.samples(target)
    root = np.sqrt(weights)
    raw = root[:, None] * np.exp(-np.multiply.outer(times, decay))
    size = np.linalg.norm(raw, axis=0)
    size = np.where(size > 0, size, 1.0)
    return raw / size, size, root * values


def best_amplitudes(product: InnerProduct, target: AnyTarget, decay: np.ndarray) -> Modes:
    """Return the best fit with these decays, amplitudes of either sign.

    Args:
        product: which errors count.
        target: rho.
        decay: s, shape (modes,).

    Example:
        >>> from stablessm.targets import TARGETS
        >>> best_amplitudes(InnerProduct("continuous"), TARGETS["exponential"], np.array([1.0])).amplitude.round(12)
        array([1.])
    """
    decay = np.sort(decay)
    matrix, size, wanted = columns(product, target, decay)
    return Modes(decay, np.linalg.lstsq(matrix, wanted, rcond=_RANK)[0] / size)


def nonnegative_amplitudes(product: InnerProduct, target: AnyTarget, decay: np.ndarray) -> Modes:
    """Return the best fit with these decays and no negative amplitude.

    By Lawson and Hanson's active sets; where the error is down to rounding these can go round in circles, and the
    answer is that of Stark and Parker's bounded least squares, which is slower.

    Args:
        product: which errors count.
        target: rho.
        decay: s, shape (modes,).
    """
    decay = np.sort(decay)
    matrix, size, wanted = columns(product, target, decay)
    try:
        amplitude = nnls(matrix, wanted, maxiter=50 * len(decay))[0]
    except RuntimeError:
        amplitude = np.maximum(lsq_linear(matrix, wanted, bounds=(0, np.inf), method="bvls").x, 0)
    return Modes(decay, amplitude / size)
