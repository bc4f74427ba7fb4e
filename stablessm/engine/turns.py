"""Phases in turns, split into words so that k times a phase keeps its place within one turn.

A phase theta in float32 is known to 2^-24 of itself; theta k as a float32 product to 2^-24 of theta k, which at
k = 10^6 is a tenth of a radian. What is wanted is theta k modulo one turn. With f = theta / 2 pi - round(theta / 2 pi)
written as f = f1 + f2 + f3, where f1 is a multiple of 2^-b, f2 one of 2^-2b, b half the bits of the float (12 or 26),
and k = low + 2^b high with low < 2^b, the products f1 low, f2 low and f2 2^b high are exact, f1 2^b high is a whole
number of turns, and only f3 k <= 2^-(2b+1) k is rounded:

    k f  =  m(m(f1 low) + m(f2 2^b high)) + f2 low + f3 k   (mod 1),      m(x) = x - round(x).

All but the last term are multiples of 2^-2b below one turn, so their sum is exact too.

Every step is an ordinary float operation: it runs under jit, vmap and on any device, without wider floats.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

# 1 / (2 pi) to 34 digits as the double next to it and what is left (A086201 of the OEIS)
_PER_RADIAN = (0.15915494309189535, -9.839338337591243e-18)


class Turns(NamedTuple):
    """A phase as a fraction of a turn, f1 + f2 + f3 in [-1/2, 1/2], on the grids 2^-b, 2^-2b and finer."""

    first: Array
    second: Array
    third: Array


def word_bits(dtype: Any) -> int:
    """Return b, half the bits of a float's significand: 12 in float32, 26 in float64."""
    return (jnp.finfo(dtype).nmant + 1) // 2


def host_turns(phase: np.ndarray, dtype: Any) -> Turns:
    """Split phases known in float64, on the host: the words keep what float32 alone would round away.

    Args:
        phase: radians, float64.
        dtype: of the words.
    """
    words = _split(np, np.asarray(phase, np.float64), _leading_on_host)
    if np.dtype(dtype) == np.float64:
        return Turns(*words)
    bits, (first, second, _) = word_bits(dtype), words
    return Turns(*(word.astype(dtype) for word in _on_grids(np, first + second, bits)))


@jax.custom_jvp
def turns(phase: Array) -> Turns:
    """Split phases in their own dtype; the derivative is that of theta / 2 pi, carried by the third word.

    Args:
        phase: radians, any shape.
    """
    return Turns(*_split_traced(phase))


@turns.defjvp
def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Turns, Turns]:
    zero = jnp.zeros_like(tangents[0])
    return turns(*primals), Turns(zero, zero, tangents[0] * _PER_RADIAN[0])


def added(one: Turns, other: Turns) -> Turns:
    """Return the sum of two phases, broadcast: exact but for the rounding of the third words, which are tiny.

    Args:
        one: words of the first.
        other: words of the second.
    """
    first, second, third = (a + b for a, b in zip(one, other, strict=True))
    bits = word_bits(third.dtype)
    carry = jnp.round(third * 4.0**bits) * 4.0**-bits
    second, third = second + carry, third - carry
    carry = jnp.round(second * 2.0**bits) * 2.0**-bits
    return Turns(_within(first + carry), second - carry, third)


def multiple(phase: Turns, exponents: Array | np.ndarray) -> tuple[Array, Array]:
    """Return k f modulo one turn as (exact, rest), both of shape (*phase.shape, *exponents.shape).

    The first part is exact, a multiple of 2^-2b within one turn; the rest, f3 k, is small.

    Args:
        phase: the words.
        exponents: k, integers from 0 to 2^2b (16.7 million in float32).
    """
    dtype = phase.first.dtype
    bits, axes = word_bits(dtype), tuple(range(-np.ndim(exponents), 0))
    first, second, third = (jnp.expand_dims(word, axes) for word in phase)
    whole = jnp.asarray(exponents)
    low = (whole & (2**bits - 1)).astype(dtype)
    coarse = _within(first * low)
    if not (isinstance(exponents, np.ndarray) and (exponents.size == 0 or exponents.max() < 2**bits)):
        coarse = _within(coarse + _within(second * 2.0**bits * (whole >> bits).astype(dtype)))
    return coarse + second * low, third * whole.astype(dtype)


@partial(jax.jit, inline=True)  # one program where it is called op by op
def cosine_sine(exact: Array, rest: Array) -> tuple[Array, Array]:
    """Return cos(2 pi t) and sin(2 pi t) for t = exact + rest, to about a rounding error, by polynomials.

    Ordinary sine and cosine are not vectorised by XLA on CPUs; these are, and cost about one exponential.

    Args:
        exact: t up to a small rest, in [-1, 1]; what is subtracted from it to come within an eighth of a turn is exact.
        rest: what is added after that.
    """
    quarter = jnp.round(4 * (exact + rest))
    angle = ((exact - quarter / 4) + rest) * (2 * math.pi)
    square = angle * angle
    cosine, sine = _series(square, angle.dtype, 0), angle * _series(square, angle.dtype, 1)
    index = quarter.astype(jnp.int32)
    odd = (index & 1) != 0
    real, imaginary = jnp.where(odd, sine, cosine), jnp.where(odd, cosine, sine)
    real = jnp.where(((index + 1) & 2) != 0, -real, real)
    return real, jnp.where((index & 2) != 0, -imaginary, imaginary)


def _series(square: Array, dtype: Any, parity: int) -> Array:
    """Sum of (-1)^j x^2j / (2j + parity)!, cut where pi / 4 gives less than a quarter of a rounding error."""
    eps = float(jnp.finfo(dtype).eps)
    terms = next(j for j in range(40) if (math.pi / 4) ** (2 * j + parity) / math.factorial(2 * j + parity) < eps / 4)
    total = jnp.zeros_like(square)
    for j in reversed(range(terms)):
        total = total * square + (-1) ** j / math.factorial(2 * j + parity)
    return total


def _within(x: Any) -> Any:
    return x - jnp.round(x)


def _on_grids(xp: Any, fraction: Any, bits: int) -> tuple[Any, Any, Any]:
    """Split a number of moderate size into multiples of 2^-b, 2^-2b and the rest, all exactly; whole turns drop out."""
    fraction = fraction - xp.round(fraction)
    first = xp.round(fraction * 2.0**bits) * 2.0**-bits
    rest = fraction - first
    second = xp.round(rest * 4.0**bits) * 4.0**-bits
    return first, second, rest - second


def _split(xp: Any, phase: Any, halved: Any) -> tuple[Any, Any, Any]:
    """theta / 2 pi as exact products of half words: each is put on the grids on its own before anything is added."""
    dtype = phase.dtype
    bits = word_bits(dtype)
    upper = halved(phase)
    lower = phase - upper
    constants, rest = [], _PER_RADIAN[0]
    for _ in range(3):  # half words of 1 / 2 pi, exact in b bits
        _, exponent = math.frexp(rest)
        word = math.ldexp(round(math.ldexp(rest, bits - exponent)), exponent - bits)
        constants.append(word)
        rest -= word
    rest += _PER_RADIAN[1]
    products = [part * xp.asarray(word, dtype) for part in (upper, lower) for word in constants]
    words = [_on_grids(xp, product, bits) for product in products]
    first, second, third = (sum(word[place] for word in words) for place in range(3))
    third = third + phase * xp.asarray(rest, dtype)
    carry = xp.round(third * 4.0**bits) * 4.0**-bits
    second, third = second + carry, third - carry
    carry = xp.round(second * 2.0**bits) * 2.0**-bits
    first, second = first + carry, second - carry
    return first - xp.round(first), second, third


@partial(jax.jit, inline=True)
def _split_traced(phase: Array) -> tuple[Array, Array, Array]:
    return _split(jnp, phase, leading)


def leading(x: Array) -> Array:
    """Leading b bits of the significand, so that the rest has b bits too; a primitive that XLA never fuses away."""
    information = jnp.finfo(x.dtype)
    return jax.lax.reduce_precision(x, information.nexp, word_bits(x.dtype) - 1)


def _leading_on_host(x: np.ndarray) -> np.ndarray:
    significand, exponent = np.frexp(x)
    return np.ldexp(np.round(np.ldexp(significand, 26)), exponent - 26)
