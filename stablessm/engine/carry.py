"""lambda^T in two words, so that a state can be carried over many chunks without drift.

A state that is multiplied by a rounded lambda^T at every chunk of T steps drifts by the same relative 2^-25 each time:
over 65536 steps in chunks of 128 that is 3e-6 for a mode that remembers them. A power kept as the leading half of a
float z and a rest d, z h + d h, is right to the rounding of h alone. (The rest of a whole float would be no use: it is
below half of the last bit, and lost when it is added to a rounded product.)

The words are made from those of the phase (`turns.py`). Products of leading halves are exact, however a compiler
contracts them, and so is what they leave of a sum; of each series only the first terms need two words. Modes that lose
more than a third in a chunk cannot drift: there z is the rounded power, and d = 0.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.engine.parts import Parts
from stablessm.engine.poles import Poles
from stablessm.engine.turns import leading, multiple

Words = tuple[Array, Array]

_LARGEST = 0.5  # of |log |lambda|^T|, where the series below are still good to 2^-30
_FULL_TURN = (6.283203125, -1.7814338207244873e-05, -3.4822063010864213e-09)  # 2 pi: two half words and the rest


def carry_words(poles: Poles, exponent: int, power: Parts) -> tuple[Parts, Parts]:
    """Return z and d with z + d = lambda^k to about 1e-8, each as real and imaginary part.

    Derivatives are those of the power, and go through d. In float64, where nothing drifts that far, z is the power.

    Args:
        poles: the eigenvalues of one step.
        exponent: k, from 0; beyond 4095 the exponent of the modulus is rounded first.
        power: lambda^k as `power_parts` gives it (imaginary part None for real poles).
    """
    parts = [part for part in power if part is not None]
    rounded, poles = jax.lax.stop_gradient((parts, poles))
    if poles.dtype == jnp.float32:
        radius, slow = _radius(poles, exponent)
        made = [radius] if len(parts) == 1 else [_product(radius, unit) for unit in _unit(poles, exponent)]
        high = [jnp.where(slow, leading(one), part) for (one, _), part in zip(made, rounded, strict=True)]
        low = [jnp.where(slow, (one - top) + rest, 0) for (one, rest), top in zip(made, high, strict=True)]
    else:
        high, low = rounded, [jnp.zeros_like(part) for part in rounded]
    low = [_moved_with(one, part) for one, part in zip(low, parts, strict=True)]
    nothing = [None] * (2 - len(parts))
    return (*high, *nothing), (*low, *nothing)


@jax.custom_jvp
def _moved_with(value: Array, power: Array) -> Array:
    """The value, with the derivative of the power."""
    return value


_moved_with.defjvp(lambda primals, tangents: (primals[0], tangents[1]))


def _radius(poles: Poles, exponent: int) -> tuple[Words, Array]:
    """|lambda|^k with its sign, 1 + y + (y^2 / 2 + ...) for y = k log|lambda|, and where |y| is small enough."""
    slow = jnp.abs(poles.log_modulus * exponent) <= _LARGEST
    log = jnp.where(slow, poles.log_modulus, 0)
    half = leading(log)
    y, rest = half * exponent, (log - half) * exponent  # both exact
    whole = y + rest
    one, left = _sum(jnp.ones_like(y), y)
    high, low = _sum(one, left + rest + whole * whole * _series(whole, [1 / math.factorial(n) for n in range(2, 11)]))
    if poles.value is None or exponent % 2 == 0:
        return (high, low), slow
    sign = jnp.where(poles.value < 0, -1, 1).astype(y.dtype)
    return (sign * high, sign * low), slow


def _unit(poles: Poles, exponent: int) -> tuple[Words, Words]:
    """cos and sin of k theta."""
    exact, rest = multiple(poles.turns, np.array(exponent))
    quarter = jnp.round(4 * (exact + rest))
    place = exact - quarter / 4  # exact: at most an eighth of a turn, on the grid 2^-24
    upper = leading(place)
    lower, (first, second, third) = place - upper, _FULL_TURN
    x, below = _sum(upper * first, lower * first + (place * second + rest * first))
    below = below + place * third
    square = x * x  # exact, as of a half word
    cosine = square * square * _series(square, [(-1) ** n / math.factorial(2 * n) for n in range(2, 7)])
    sine = x * square * _series(square, [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, 6)])
    one, left = _sum(jnp.ones_like(x), -square / 2)
    cos = _sum(one, left + cosine - below * (x + sine + below / 2))
    sin = _sum(x, sine + below * (one + cosine - below * x / 2))
    index = quarter.astype(jnp.int32)
    odd = (index & 1) != 0
    real, imaginary = (
        tuple(jnp.where(flip, -1, 1) * jnp.where(odd, two, one) for one, two in zip(*pair, strict=True))
        for pair, flip in (((cos, sin), ((index + 1) & 2) != 0), ((sin, cos), (index & 2) != 0))
    )
    return real, imaginary


def _series(x: Array, coefficients: list[float]) -> Array:
    total = jnp.zeros_like(x)
    for one in reversed(coefficients):
        total = total * x + one
    return total


def _sum(one: Array, two: Array) -> Words:
    """A sum as its leading half and what that leaves, for |one| at least |two| and of half a word."""
    total = leading(one + two)
    return total, (one - total) + two


def _product(one: Words, two: Words) -> Words:
    return one[0] * two[0], one[0] * two[1] + one[1] * (two[0] + two[1])
