"""Best fits of one target at growing widths, each started from the one before.

The decays of a best fit to a polynomial memory spread over a range of log s that grows like sqrt(m): pi sqrt(2 m/(p -
1/2)) for (1 + t)^-p over an infinite horizon (`law.py`). So the decays of a smaller fit, interpolated to more of them
and stretched about the fastest, are a good start. Where a smaller fit is exact to rounding, or there are fewer than two
nodes a mode, a width keeps that one: further modes would fit rounding errors, with amplitudes of either sign. Where the
rate e^{-r sqrt(m)} of an infinite horizon says that rounding begins before the width asked for, small steps lead to it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from threadpoolctl import threadpool_limits

from stablessm.approximation.given_rates import best_amplitudes
from stablessm.approximation.modes import Modes
from stablessm.approximation.products import AnyTarget, InnerProduct
from stablessm.approximation.projection import variable_projection

EXACT = 1e-12  # relative error from which on further modes fit the rounding of larger ones
_SMALL = (1, 2, 3, 4, 6)  # steps of the ladder below the widths asked for
_GROWTH = 2.0  # largest step of the ladder
_GROWTH_NEAR_ROUNDING = 1.15


def best_fits(product: InnerProduct, target: AnyTarget, widths: tuple[int, ...]) -> tuple[Modes, ...]:
    """Return the best fit found of each width; of fewer modes where fewer are exact to rounding.

    Args:
        product: which errors count.
        target: rho.
        widths: numbers of modes, ascending.

    Raises:
        TargetError: the target has no finite norm, or no values where they are needed.

    Example:
        >>> from stablessm.targets import TARGETS
        >>> [len(one.decay) for one in best_fits(InnerProduct("continuous"), TARGETS["exponential"], (1, 4))]
        [1, 1]
    """
    with threadpool_limits(1, "blas"):  # matrices too small to share among cores
        return tuple(_fit(product, target, width) for width in widths)


def smaller(width: int) -> int:
    """Return the width from which the fit of `width` modes starts."""
    below = [one for one in _SMALL if one < width]
    return max([*below, int(np.ceil(width / _GROWTH))]) if width > _SMALL[-1] else below[-1]


@lru_cache(maxsize=256)
def _fit(product: InnerProduct, target: AnyTarget, width: int) -> Modes:
    if width == 1:
        times, _, _ = product.samples(target)
        starts = 1 / np.geomspace(0.3, max(1.0, times[-1] if product.horizon else 30.0), 8)
        fits = [variable_projection(product, target, np.array([one])) for one in starts]
        return min(fits, key=lambda one: product.error(target, one))
    before = _fit(product, target, smaller(width))
    size, most = np.sqrt(product.square(target)), len(product.samples(target)[0]) // 2
    for step in _steps(product, len(before.decay), width, product.error(target, before) / size):
        if product.error(target, before) <= EXACT * size or step > most:
            break
        fit = variable_projection(product, target, _start(product, before.decay, step))
        before = min(_without_idle(product, target, fit), before, key=lambda one: product.error(target, one))
    return before


def _steps(product: InnerProduct, modes: int, width: int, error: float) -> list[int]:
    """Return the widths on the way to `width`: small steps where its error e^{-r sqrt(m)} would be below rounding."""
    if product.horizon is not None or not 0 < error < 1 or error ** np.sqrt(width / modes) > EXACT:
        return [width]
    steps = [modes]
    while steps[-1] < width:
        steps.append(min(width, int(np.ceil(steps[-1] * _GROWTH_NEAR_ROUNDING))))
    return steps[1:]


def _start(product: InnerProduct, decay: np.ndarray, width: int) -> np.ndarray:
    x = np.log(decay)
    if len(x) == 1:
        return np.exp(x[0] + np.linspace(-2.0, 1.0, width))
    drawn = np.interp(np.linspace(0, 1, width), np.linspace(0, 1, len(x)), x)
    stretched = x[-1] + (drawn - x[-1]) * np.sqrt(width / len(x))
    return np.exp(stretched if product.horizon is None else drawn + np.linspace(-0.3, 0.3, width))


def _without_idle(product: InnerProduct, target: AnyTarget, modes: Modes) -> Modes:
    """Leave out modes that ended where the nodes do not see them: constants over all of time, or gone at once."""
    times, _, _ = product.samples(target)
    kept = (modes.decay * times[-1] > 1e-6) & (modes.decay * times[times > 0][0] < 40)
    return modes if kept.all() or not kept.any() else best_amplitudes(product, target, modes.decay[kept])
