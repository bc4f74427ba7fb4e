"""The independent method: a rational interpolant of the Laplace transform (AAA), whose poles are the decays.

The transform of a sum of m modes is rational of type (m - 1, m) with poles at -s_i. AAA interpolates the transform of
the target greedily on the positive axis, where the transform of a completely monotone kernel is a Stieltjes function;
its poles are then real and negative. The amplitudes are refitted in the norm that counts.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from scipy.interpolate import AAA

from stablessm.approximation.given_rates import best_amplitudes
from stablessm.approximation.modes import Modes
from stablessm.approximation.products import InnerProduct
from stablessm.targets import Target

_POINTS = 200
_BEYOND = 4.0
_WITHIN = 1e3
_REAL = 1e-6  # imaginary over real part below which a pole is real


def rational_fit(product: InnerProduct, target: Target, width: int, *, slowest: float, fastest: float) -> Modes:
    """Return the fit whose decays are the real poles of an interpolant of type (width, width).

    Args:
        product: which errors count. The transform is that over an infinite horizon: over a finite one it has no poles.
        target: rho, of a finite norm over the infinite horizon.
        width: most modes.
        slowest: of the order of the slowest decay wanted.
        fastest: of the order of the fastest one.

    Returns:
        At most `width` modes: complex pairs and poles of growing modes are left out. In discrete time the variable is
        e^{z dt} - 1, in which the mode lambda^k has its pole at lambda - 1.

    Raises:
        TargetError: the target has no finite norm over an infinite horizon.

    References: Nakatsukasa, Sete and Trefethen, The AAA algorithm for rational approximation (SISC 2018).
    """
    whole = replace(product, horizon=None, averaged=False)
    points = np.geomspace(slowest, _BEYOND * fastest, _POINTS)
    times, weights, values = whole.samples(target)
    discrete = product.domain == "discrete"
    rates = np.log1p(points * product.step_size) / product.step_size if discrete else points
    transform = (weights * values) @ np.exp(-np.multiply.outer(times, rates))
    if discrete:  # sum_k lambda^k e^{-zk} = (1 + y)/(1 + y - lambda)
        transform = transform / (1 + points * product.step_size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that so few terms do not reach machine precision
        poles = AAA(points, transform, max_terms=width + 1, clean_up=False).poles()
    real = np.abs(poles.imag) <= _REAL * np.abs(poles.real)
    found = -poles[real & (poles.real < 0)].real
    if discrete:
        found = -np.log1p(-found[found * product.step_size < 1] * product.step_size) / product.step_size
    decay = found[(found > slowest / _WITHIN) & (found < fastest * _WITHIN)]
    return best_amplitudes(product, target, decay) if len(decay) else Modes(np.array([fastest]), np.zeros(1))
