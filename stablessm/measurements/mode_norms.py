"""Norms of differences of memory kernels sum_i a_i e^{-s_i t}, and what bounds them, at nodes of a quadrature.

With d = K~ - K over an infinite or a finite horizon:

| norm    |                                | of outputs                                                |
|---------|--------------------------------|-----------------------------------------------------------|
| l1      | int |d|                        | largest output, worst input of |x| <= 1                   |
| l2      | (int d^2)^(1/2)                | root mean square under unit white noise                   |
| sobolev | int |d| + |d(0)| + int |d'|    | W^{1,inf}: largest output and largest rate of change       |
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

NORMS = ("l1", "l2", "sobolev")


class Nodes(NamedTuple):
    """A quadrature.

    Attributes:
        times: t, shape (nodes,).
        weights: shape (nodes,).
    """

    times: Array
    weights: Array


def norms(nodes: Nodes, difference: Array, slope: Array, jump: Array) -> Array:
    """Return the norms of a difference, in the order of `NORMS`.

    Args:
        nodes: where it is known.
        difference: d at the nodes.
        slope: d' at the nodes.
        jump: d(0).
    """
    weights = nodes.weights
    first = weights @ jnp.abs(difference)
    square = weights @ difference**2
    second = jnp.sqrt(jnp.where(square > 0, square, 1)) * (square > 0)  # its derivative at 0 is 0 and not NaN
    return jnp.stack([first, second, first + jnp.abs(jump) + weights @ jnp.abs(slope)])


def kernel(nodes: Nodes, decay: Array, amplitude: Array) -> tuple[Array, Array, Array]:
    """Return sum_i a_i e^{-s_i t} and its derivative at the nodes, and its value at 0.

    Args:
        nodes: where.
        decay: s, shape (modes,).
        amplitude: a, likewise.
    """
    modes = jnp.exp(-decay * nodes.times[:, None])
    return modes @ amplitude, -modes @ (amplitude * decay), amplitude.sum()


def envelope(nodes: Nodes, decay: Array, amplitude: Array, between: tuple[Array, Array], by: Array) -> Array:
    """Return bounds on the norms of every change of modes within a box, by the triangle inequality at each time.

    No mode changes by more at time t than its farthest corner does, so that |d(t)| is at most the sum of these; where
    one corner is the farthest of all modes at all times, it attains the bound.

    Args:
        nodes: a quadrature of the horizon.
        decay: s, shape (modes,).
        amplitude: a, shape (modes,).
        between: least and greatest decay that each mode can be moved to.
        by: largest change of each amplitude.
    """
    time, size = nodes.times[:, None], jnp.abs(amplitude)
    low, high = between
    most, least = size + by, size - by
    value, ends = jnp.exp(-decay * time), (jnp.exp(-high * time), jnp.exp(-low * time))
    change = _farthest(size * value, most, least, *ends)
    middle = jnp.clip(1 / jnp.maximum(time, 1e-300), low, high)  # s e^{-st} is largest at s = 1/t
    slopes = high * ends[0], low * ends[1]
    rate = _farthest(size * decay * value, most, least, jnp.minimum(*slopes), middle * jnp.exp(-middle * time))
    return norms(nodes, change.sum(1), rate.sum(1), by.sum())


def _farthest(value: Array, most: Array, least: Array, low: Array, high: Array) -> Array:
    """Largest distance of a product from a value, factors in [least, most] and [low, high]."""
    corners = jnp.stack([most * low, most * high, least * low, least * high])
    return jnp.maximum(corners.max(0) - value, value - corners.min(0))


def single(nodes: Nodes, decay: Array, moved: Array) -> Array:
    """Return the norms of e^{-s~ t} - e^{-s t} of modes alone, shape (norms, ...) with the shape of `moved`.

    Args:
        nodes: a quadrature of the horizon.
        decay: s, broadcasting with `moved`.
        moved: s~.
    """
    time = nodes.times[:, None]
    s, q = jnp.broadcast_arrays(decay, moved)
    shape, s, q = s.shape, s.ravel(), q.ravel()
    one, other = jnp.exp(-s * time), jnp.exp(-q * time)
    first = nodes.weights @ jnp.abs(other - one)
    slope = nodes.weights @ jnp.abs(q * other - s * one)
    return jnp.stack([first, jnp.sqrt(nodes.weights @ (other - one) ** 2), first + slope]).reshape(-1, *shape)


def whole(nodes: Nodes, decay: Array) -> Array:
    """Return the norms of e^{-s t} itself, shape (norms, modes)."""
    time = nodes.times[:, None]
    mode = jnp.exp(-decay * time)
    first = nodes.weights @ mode
    return jnp.stack([first, jnp.sqrt(nodes.weights @ mode**2), first + 1 + nodes.weights @ jnp.abs(decay * mode)])
