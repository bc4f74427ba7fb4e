r"""What a map can be optimised for, and what no map can do better than.

A map is to carry the memory lengths tau = 1/margin from lo to hi on an interval of weights, with |d ln tau/dw| <= K.
Each criterion Q is a multiple of a power of y' = |d ln tau/dw|, so that Q <= L is a speed limit for y = ln tau:

    modulus                Q = y'                                        y' <= L
    gradient-scale         Q = tau y'                                    y' <= L / tau
    gradient-over-weight   Q = tau y' / |w|                              y' <= L |w| / tau
    stable-step            Q = 1/step = tau y'^2 / 4 (continuous time)   y' <= 2 sqrt(L / tau)

The fastest way from lo to hi keeps to the smaller of K and that limit at every weight. By the comparison theorem for
y' = min(K, limit(y, w)) no map that gets from lo to hi within the interval has a smaller L than the one with which this
way just arrives. Without K it is a closed form: exp for the modulus, 1/(c + w) for the gradient scale, best for the
gradient over the weight, 1/(c + w)^2 for the stable step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad

_STEPS = 1000
_LEVELS, _ROUNDS = 64, 4  # of the search for L, in a factor of 10^24


@dataclass(frozen=True)
class Purpose:
    """A criterion: less is better.

    Attributes:
        name: key on the command line.
        meaning: the quantity whose supremum counts, in words.
        power: e in Q = c(tau, w) y'^e.
        factor: c(tau, |w|, link), for arrays of NumPy and of JAX.
    """

    name: str
    meaning: str
    power: int
    factor: Callable[..., object]


def _of_step(memory, weight, link):
    """1/step over y'^2: tau/4, or (1 + q^2) tau/(1 + q)^3 with q = lambda = 1 - 1/tau."""
    if link == "continuous":
        return memory / 4
    q = 1 - 1 / memory
    return (1 + q**2) * memory / (1 + q) ** 3


PURPOSES: Mapping[str, Purpose] = {
    one.name: one
    for one in (
        Purpose("modulus", "slope of ln|f|, |f'/f|", 1, lambda memory, weight, link: 1.0),
        Purpose("gradient-scale", "gradient scale |f'|/f^2", 1, lambda memory, weight, link: memory),
        Purpose("gradient-over-weight", "gradient scale over weight |f'|/(f^2 |w|)", 1,
                lambda memory, weight, link: memory / weight),
        Purpose("stable-step", "1/largest stable step", 2, _of_step),
    )
}  # fmt: skip


def least_possible(
    purpose: Purpose, link: str, memory: tuple[float, float], weights: tuple[float, float], slope: float
) -> float:
    """Return the least supremum of a criterion over all maps, found by trying speed limits.

    Args:
        purpose: the criterion.
        link: how the decay becomes an eigenvalue.
        memory: shortest and longest memory length to be reached.
        weights: ends of the interval of weights.
        slope: the bound K on |d ln|f|/dw|; infinite for none.

    Example:
        >>> round(least_possible(PURPOSES["gradient-over-weight"], "continuous", (1, 101), (0, 10), float("inf")), 6)
        2.0
    """
    if np.isinf(slope):
        return _without_slope(purpose, link, memory, weights)
    goal = np.log(memory[1] / memory[0])
    low, high = np.log(1e-12), np.log(1e12)
    for _ in range(_ROUNDS):
        levels = np.linspace(low, high, _LEVELS)
        arrives = _farthest(purpose, link, memory[0], weights, slope, np.exp(levels)) >= goal
        place = max(1, int(np.argmax(arrives)))
        low, high = levels[place - 1], levels[place]
    return float(np.exp(high))


def _without_slope(purpose, link, memory, weights):
    """Q <= L is d phi(tau)^(1/e) <= L^(1/e) d psi(w): the quotient of two integrals."""
    power = 1 / purpose.power
    over = purpose.name == "gradient-over-weight"
    way = quad(lambda y: float(purpose.factor(np.exp(y), 1.0, link)) ** power, *np.log(memory))[0]
    room = _over_weight(weights) if over else weights[1] - weights[0]
    return float((way / room) ** purpose.power)


def _over_weight(weights):
    """The integral of |w| over an interval."""
    return sum(0.5 * end * abs(end) * sign for end, sign in zip(weights, (-1, 1), strict=True))


def _farthest(purpose, link, shortest, weights, slope, levels):
    """ln(tau/lo) that the fastest way reaches under each limit, from either end of the interval, by Heun's method."""
    starts, ends = (np.asarray(side, float)[:, None] for side in (weights, weights[::-1]))
    step = (weights[1] - weights[0]) / _STEPS
    floor = 1e-9 * (weights[1] - weights[0])
    y = np.zeros((2, len(levels)))

    def speed(y, at):
        weight = np.maximum(np.abs(starts + (ends - starts) * at), floor)
        factor = purpose.factor(shortest * np.exp(np.minimum(y, 600.0)), weight, link)
        return np.minimum(slope, (levels / factor) ** (1 / purpose.power))

    for count in range(_STEPS):
        first = speed(y, count / _STEPS)
        y = y + step / 2 * (first + speed(y + step * first, (count + 1) / _STEPS))
    return y.max(axis=0)
