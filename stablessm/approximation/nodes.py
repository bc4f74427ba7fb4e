"""Nodes and weights that turn the integrals and sums of inner products into finite sums, right to rounding.

A memory kernel lives on many scales at once, from its first step to 1/s of its slowest mode, so the time axis is cut
into octaves with a Gauss rule on each: of the Legendre polynomials for an integral, of the discrete Chebyshev
polynomials for a sum over the integers of an octave (exact up to degree 2n - 1 as well, with n nodes in place of 2^j
terms; the target and the modes are then read between the integers). An octave is halved where the rule does not yet
agree with itself on the square of the target.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import eigh_tridiagonal

ORDER = 10
_OCTAVES = 80  # of an infinite horizon: modes as slow as 2^-76 are seen to die out
_FIRST = 2.0**-7
_DEEPEST = 20
_AGREED = 1e-14  # of the whole integral
Function = Callable[[np.ndarray], np.ndarray]
Rule = tuple[np.ndarray, np.ndarray]


def integral(function: Function, horizon: float | None, *, growth: float = 2.0) -> Rule:
    """Return nodes and weights on [0, horizon), shape (nodes,) each.

    Args:
        function: what must be resolved besides smooth modes: the target.
        horizon: None for the whole half-line.
        growth: quotient of the ends of a panel before it is halved; 2 for octaves.
    """
    most = 2.0**_OCTAVES if horizon is None else horizon
    count = int(np.ceil(np.log2(most / _FIRST) / np.log2(growth)))
    edges = np.minimum(np.append(0.0, _FIRST * growth ** np.arange(count + 1)), most)
    panels = [(low, high) for low, high in pairwise(edges) if high > low]
    whole = sum((weights @ function(nodes) ** 2) for nodes, weights in (_gauss(*one) for one in panels))
    found = [rule for one in panels for rule in _resolved(function, *one, _AGREED * whole, _DEEPEST)]
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([weights for _, weights in found])


def total(horizon: int | None) -> Rule:
    """Return nodes and weights of a sum over 0, 1, ..., horizon - 1, shape (nodes,) each.

    Args:
        horizon: None for all integers; a finite one is summed up term by term.
    """
    if horizon is not None:
        return np.arange(horizon, dtype=np.float64), np.ones(horizon)
    first = 1 << 6
    rules = [(np.arange(first, dtype=np.float64), np.ones(first))]
    rules += [_discrete_gauss(float(1 << octave), float(1 << octave)) for octave in range(6, _OCTAVES)]
    return np.concatenate([nodes for nodes, _ in rules]), np.concatenate([weights for _, weights in rules])


def _resolved(function: Function, low: float, high: float, agreed: float, depth: int) -> list[Rule]:
    middle = (low + high) / 2
    coarse, halves = _gauss(low, high), [_gauss(low, middle), _gauss(middle, high)]
    once = coarse[1] @ function(coarse[0]) ** 2
    twice = sum(weights @ function(nodes) ** 2 for nodes, weights in halves)
    if depth == 0 or abs(once - twice) <= agreed:
        return [coarse]
    return [*_resolved(function, low, middle, agreed, depth - 1), *_resolved(function, middle, high, agreed, depth - 1)]


def _gauss(low: float, high: float) -> Rule:
    nodes, weights = _legendre()
    return (low + high) / 2 + (high - low) / 2 * nodes, (high - low) / 2 * weights


@lru_cache(maxsize=1)
def _legendre() -> Rule:
    return leggauss(ORDER)


def _discrete_gauss(start: float, count: float) -> Rule:
    """Gauss rule of the sum over start, start + 1, ..., start + count - 1 (Golub and Welsch's eigenvalue problem)."""
    degree = np.arange(1, ORDER)
    off = degree / 2 * np.sqrt((count**2 - degree**2) / (4 * degree**2 - 1))
    nodes, vectors = eigh_tridiagonal(np.full(ORDER, (count - 1) / 2), off)
    return start + nodes, count * vectors[0] ** 2
