"""Exponential moments: the integrals behind exact discretisation."""

from __future__ import annotations

from math import factorial, log

import jax.numpy as jnp
from jax import Array

_RADIUS = 1.0


def _terms(dtype: jnp.dtype) -> int:
    """Return how many terms of the series reach the dtype's precision within the radius: eps > 1/k!."""
    eps = float(jnp.finfo(dtype).eps)
    return next(k for k in range(2, 40) if 1 / factorial(k) < eps / 4)


def real_exponential_moment(order: int, x: Array) -> Array:
    """Return I_n(x) = integral of t^n e^(x t) over [0, 1] for real x, as `exponential_moment` on the real axis.

    Args:
        order: n >= 0.
        x: any shape; at most 0 for a stable system. Infinite where the value overflows.
    """
    largest_finite = float(jnp.finfo(x.dtype).max) / 4
    x = jnp.clip(x, -largest_finite, largest_finite)
    small = jnp.abs(x) < _RADIUS
    far = jnp.where(small, -jnp.ones_like(x), x)
    moment, growth = jnp.expm1(far) / far, jnp.exp(far)
    for n in range(1, order + 1):
        moment = (growth - n * moment) / far
    moment = jnp.where(jnp.isinf(growth), growth, moment)
    near = jnp.where(small, x, jnp.zeros_like(x))
    series = jnp.zeros_like(x)
    for k in reversed(range(_terms(x.dtype))):
        series = series * near + 1 / (factorial(k) * (order + k + 1))
    return jnp.where(small, series, moment)


def exponential_moment(order: int, x: Array, y: Array) -> tuple[Array, Array]:
    """Return real and imaginary part of I_n(z) = integral of t^n e^(z t) over [0, 1], z = x + iy.

    I_0(z) = (e^z - 1)/z is the factor of zero-order hold, and I_n its n-th derivative. Within |z| < 1 the series
    sum_k z^k / (k! (n + k + 1)) is used; beyond, the recursion I_n = (e^z - n I_(n-1))/z, stable there for the small n
    that derivatives need. The sine and cosine are taken of y as given: y of thousands keeps the error of its rounding.

    Args:
        order: n >= 0.
        x: real part, at most 0 for a stable system; any shape.
        y: imaginary part, of a shape that broadcasts with x.
    """
    largest_finite = float(jnp.finfo(jnp.result_type(x, y)).max) / 4  # an overflowed decay still has the limit 1/z
    x, y = (jnp.clip(part, -largest_finite, largest_finite) for part in jnp.broadcast_arrays(x, y))
    small = x * x + y * y < _RADIUS**2
    zero, one = jnp.zeros_like(x), jnp.ones_like(x)

    near_x, near_y = jnp.where(small, x, zero), jnp.where(small, y, zero)
    series = zero, zero
    for k in reversed(range(_terms(x.dtype))):
        real, imaginary = series
        series = (
            real * near_x - imaginary * near_y + 1 / (factorial(k) * (order + k + 1)),
            real * near_y + imaginary * near_x,
        )

    ceiling = log(float(jnp.finfo(x.dtype).max)) - 1  # beyond, e^x overflows: an unstable system
    far_x, far_y = jnp.where(small, -one, jnp.minimum(x, ceiling)), jnp.where(small, zero, y)
    growth = jnp.exp(far_x)
    sine, cosine = jnp.where(far_y == 0, zero, growth * jnp.sin(far_y)), growth * jnp.cos(far_y)
    # 1/z by products with reciprocals: XLA turns (a/b)/c into a/(b c), which would overflow
    scale = 1 / jnp.maximum(jnp.abs(far_x), jnp.abs(far_y))
    unit_x, unit_y = far_x * scale, far_y * scale
    square = 1 / (unit_x * unit_x + unit_y * unit_y)
    inverse_x, inverse_y = unit_x * square * scale, -unit_y * square * scale
    # I_0 = (e^z - 1)/z with expm1 on the real axis: e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y/2)
    above = jnp.expm1(far_x) * jnp.cos(far_y) - 2 * jnp.sin(far_y / 2) ** 2
    recursion = above * inverse_x - sine * inverse_y, above * inverse_y + sine * inverse_x
    for n in range(1, order + 1):
        real, imaginary = cosine - n * recursion[0], sine - n * recursion[1]
        recursion = real * inverse_x - imaginary * inverse_y, real * inverse_y + imaginary * inverse_x

    def finish(near: Array, far: Array) -> Array:
        # The largest float and not infinity: real and imaginary part are separate functions, and a zero cotangent of
        # one times an infinite derivative would be NaN.
        overflowed = jnp.where(far == 0, zero, jnp.copysign(jnp.finfo(x.dtype).max, far).astype(x.dtype))
        return jnp.where(small, near, jnp.where(x > ceiling, overflowed, far))

    return finish(series[0], recursion[0]), finish(series[1], recursion[1])
