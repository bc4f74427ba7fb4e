r"""Upper bounds on E_m(beta) of a sum of modes, and how far its weights can move before a mode loses its stability.

The weights of mode i are w_i (recurrent, s_i = s(w_i)), U_i and c_i, its amplitude a_i = c_i U_i.

In the inf ball the weights of a mode move in a box whatever the others do. The change is bounded at each time by
`mode_norms.envelope`, and in a norm N by

    sum_i |a_i| max_{|delta| <= beta} N(e^{-s(w_i + delta) t} - e^{-s_i t}) + r_i n_i,

r_i = beta (|c_i| + |U_i|) + beta^2 and n_i = N of the slowest e^{-s~ t} within reach; the smaller one counts. In L1 the
corner of slower modes and larger weights attains it where all amplitudes have one sign: it is sum_i (|a_i| + r_i)/s~_i
- |a_i|/s_i.

In the other balls |delta|_2 <= beta within a block. With psi_i(r) = |a_i| max_{|delta| <= r} N(e^{-s(w_i + delta) t}
- e^{-s_i t}) the recurrent weights cost at most the maximum of sum psi_i(r_i) over sum r_i^2 <= beta^2, which for every
mu >= 0 is at most mu beta^2 + sum_i max_r (psi_i(r) - mu r^2), and the others, by Cauchy and Schwarz,

    beta |(U_i n_i)|_2 + beta |(c_i n_i)|_2 + beta^2 max n_i.

The l2 ball lies in the block_l2 ball, that in the inf ball, and bounds are inherited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from stablessm.measurements.mode_norms import Nodes, envelope, single, whole

_SAMPLES = 17  # of the decay over a box: its ends and its turning point at w = 0 are among them
_RADII = 24  # of the l2 bound
_PRICES = 41
_LARGEST = 256.0  # e^-256 is a decay in float64; a mode that survives such a move survives every one

Decay = Callable[[Array], Array]


class Modes(NamedTuple):
    """Weights of a linear RNN with real modes; dead modes have U = c = 0.

    Attributes:
        recurrent: w, shape (modes,).
        input: U, likewise.
        readout: c, likewise.
    """

    recurrent: Array
    input: Array
    readout: Array


def reach(decay: Decay, weight: Array, by: Array) -> tuple[Array, Array]:
    """Return the least and the greatest decay of weights that move by at most so much.

    Exact for maps that are monotone on either side of w = 0; of others the samples between are looked at.

    Args:
        decay: s(w).
        weight: w.
        by: how far, broadcasting with the weight.
    """
    places = jnp.linspace(-1, 1, _SAMPLES).reshape(-1, *([1] * jnp.ndim(weight)))
    values = decay(jnp.concatenate([weight + by * places, jnp.clip(0, weight - by, weight + by)[None]]))
    return values.min(0), values.max(0)


def stability_radius(decay: Decay, modes: Modes, *, most: float = jnp.inf) -> Array:
    """Return the largest beta up to which no weight of size beta makes a mode unstable, infinite where none does.

    It is the same in every ball, for one weight that moves alone is in all of them: for `direct` the slowest decay.

    Args:
        decay: s(w).
        modes: the weights; dead modes do not count.
        most: decay from which on a mode is unstable: infinite in continuous time, 2/dt for Euler's step.
    """
    alive = (modes.input != 0) | (modes.readout != 0)

    def stable(beta: Array) -> Array:
        low, high = reach(decay, modes.recurrent, beta)
        return jnp.where(alive, (low > 0) & (high < most), True).all()

    def halve(ends: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        low, high = ends
        middle = (low + high) / 2
        good = stable(jnp.exp2(middle))
        return (jnp.where(good, middle, low), jnp.where(good, high, middle)), None

    start = jnp.asarray(-120.0, modes.recurrent.dtype), jnp.log2(jnp.asarray(_LARGEST, modes.recurrent.dtype))
    (found, _), _ = jax.lax.scan(halve, start, None, length=60)
    return jnp.where(stable(jnp.asarray(_LARGEST, modes.recurrent.dtype)), jnp.inf, jnp.exp2(found))


def amplitude_change(modes: Modes, beta: Array, moving: tuple[Array, Array]) -> Array:
    """Return the largest change of each amplitude c U in the inf ball.

    Args:
        modes: the weights.
        beta: size.
        moving: whether the input and the readout weights move, 0 or 1 each.
    """
    by_input, by_readout = (beta * one for one in moving)
    return by_input * jnp.abs(modes.readout) + by_readout * jnp.abs(modes.input) + by_input * by_readout


def box_bound(nodes: Nodes, decay: Decay, modes: Modes, beta: Array, moving: Array) -> Array:
    """Return upper bounds in the inf ball, in the order of `NORMS`.

    Args:
        nodes: a quadrature of the horizon.
        decay: s(w).
        modes: the weights.
        beta: size.
        moving: whether the recurrent, the input and the readout weights move, 0 or 1 each.
    """
    alive = (modes.input != 0) | (modes.readout != 0)
    by = jnp.where(alive, amplitude_change(modes, beta, (moving[1], moving[2])), 0)
    low, high = reach(decay, modes.recurrent, beta * moving[0])
    own, amplitude = decay(modes.recurrent), modes.input * modes.readout
    by_mode = jnp.abs(amplitude) * single(nodes, own, jnp.stack([low, high])).max(1) + by * whole(nodes, low)
    return jnp.minimum(envelope(nodes, own, amplitude, (low, high), by), jnp.where(alive, by_mode, 0).sum(1))


def round_bound(nodes: Nodes, decay: Decay, modes: Modes, beta: Array, moving: Array) -> Array:
    """Return upper bounds in the block_l2 ball, and so in the l2 ball, in the order of `NORMS`; arguments as above."""
    alive = (modes.input != 0) | (modes.readout != 0)
    slowest, _ = reach(decay, modes.recurrent, beta * moving[0])
    lengths = jnp.where(alive, whole(nodes, slowest), 0)
    sizes = [jnp.linalg.norm(lengths * one, axis=1) for one in (modes.readout, modes.input)]
    others = beta * (moving[1] * sizes[0] + moving[2] * sizes[1]) + beta**2 * moving[1] * moving[2] * lengths.max(1)
    radii = beta * moving[0] * jnp.linspace(0, 1, _RADII + 1)
    moved = jax.vmap(lambda by: jnp.stack(reach(decay, modes.recurrent, by)))(radii)  # (radii, 2, modes)
    size = jnp.abs(modes.input * modes.readout)
    cost = jax.lax.map(lambda ends: size * single(nodes, decay(modes.recurrent), ends).max(1), moved)
    dearest = jax.vmap(_dearest, (1, None))(jax.lax.cummax(cost, axis=0), radii)
    return jnp.minimum(dearest + others, box_bound(nodes, decay, modes, beta, moving))


def _dearest(cost: Array, radii: Array) -> Array:
    """Upper bound on the maximum of sum_i psi_i(r_i) over |r|_2 <= the last radius; psi grows, known at the radii."""
    limit = jnp.where(radii[-1] > 0, radii[-1], 1)  # where nothing moves nothing costs; 0/0 would be NaN
    scale = jnp.maximum(cost[-1].max(), 1e-300) / limit**2
    prices = scale * jnp.geomspace(1e-3, 1e3, _PRICES)

    def bound(price: Array) -> Array:
        return price * limit**2 + (cost[1:] - price * radii[:-1, None] ** 2).max(0).clip(0).sum()

    return jnp.minimum(jax.vmap(bound)(prices).min(), cost[-1].sum())
