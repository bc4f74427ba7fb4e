"""Diagonal plus low-rank systems step by step, O(N) a step: the state after a series, and what a state sends.

With R = (2/h - A)^-1 = D - D P (1 + Q* D P)^-1 Q* D, D = 1/(2/h - Lambda), the bilinear rule is

    x_k = Abar x_{k-1} + Bbar u_k,    Abar = (4/h) R - 1,    Bbar = 2 R B.

What a state sends, C Abar^(k+1) x, is a kernel too: that of B = (2/h + A) x / 2, for Abar = R (2/h + A).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Complex, Float

from stablessm.engine.dplr import LowRankSystem, dplr_kernel


class LowRankStep(NamedTuple):
    """One step in factored form, channels on the leading axis: x <- (4/h) R x - x + 2 R B u, R y = D y - l <r, y>.

    Attributes:
        diagonal: D, shape (channels, states).
        left: l = D P / (1 + Q* D P).
        right: r = D Q, unconjugated: <r, y> = sum_n r_n y_n, and twice its real part for pairs.
        drive: Bbar.
        scale: 4/h, shape (channels, 1).
        pairs: whether each state stands for itself and its conjugate.
    """

    diagonal: Complex[Array, "channels states"]
    left: Complex[Array, "channels states"]
    right: Complex[Array, "channels states"]
    drive: Complex[Array, "channels states"]
    scale: Float[Array, "channels 1"]
    pairs: bool

    def resolve(self, vector: Complex[Array, "*batch channels states"]) -> Array:
        """Return R y."""
        return self.diagonal * vector - self.left * _inner(self.right, vector, self.pairs)

    def advance(
        self, state: Complex[Array, "*batch channels states"], inputs: Float[Array, "*batch channels"]
    ) -> Array:
        """Return the state after one input of every channel."""
        return self.scale * self.resolve(state) - state + self.drive * inputs[..., None]


def low_rank_step(system: LowRankSystem, *, pairs: bool) -> LowRankStep:
    """Return one step of a system under the bilinear rule.

    Args:
        system: channels on the leading axis.
        pairs: whether each state stands for itself and its conjugate.

    Example:
        >>> one = LowRankSystem(*(jnp.full((1, 1), v) for v in (-0.5, 0.5**0.5, 0.5**0.5, 1.0, 1.0)), jnp.full(1, 0.5))
        >>> state = low_rank_step(one, pairs=False).advance(jnp.zeros((1, 1), complex), jnp.ones(1))
        >>> round(float(state[0, 0].real), 6)
        0.4
    """
    inverse = 1 / (2 / system.step_size[:, None] - system.eigenvalues)
    left, right = inverse * system.left, inverse * system.right.conj()
    left = left / (1 + _inner(system.right.conj(), left, pairs))
    scale = (4 / system.step_size)[:, None]
    step = LowRankStep(inverse, left, right, jnp.zeros_like(inverse), scale, pairs)
    return step._replace(drive=2 * step.resolve(system.drive))


def low_rank_last_state(
    system: LowRankSystem,
    inputs: Float[Array, "channels time"],
    state: Complex[Array, "channels states"],
    *,
    pairs: bool,
) -> Complex[Array, "channels states"]:
    """Return the state after a series, step by step; it costs nothing under `jax.jit` if it is not used.

    Args:
        system: channels on the leading axis.
        inputs: may be empty.
        state: before the first step.
        pairs: whether each state stands for itself and its conjugate.
    """
    step = low_rank_step(system, pairs=pairs)
    return jax.lax.scan(lambda x, u: (step.advance(x, u), None), state, inputs.T)[0]


def state_response(
    system: LowRankSystem, state: Complex[Array, "channels states"], length: int, *, pairs: bool
) -> Float[Array, "channels {length}"]:
    """Return C Abar^(k+1) x for k < length: what a state adds to the outputs from the next step on.

    Args:
        system: channels on the leading axis.
        state: x before the first step.
        length: number of steps, at least 0.
        pairs: whether each state stands for itself and its conjugate.
    """
    moved = system.eigenvalues * state - system.left * _inner(system.right.conj(), state, pairs)
    drive = state / system.step_size[:, None] + moved / 2
    return dplr_kernel(system._replace(drive=drive), length, pairs=pairs)


def _inner(row: Array, column: Array, pairs: bool) -> Array:
    total = (row * column).sum(-1, keepdims=True)
    return 2 * total.real if pairs else total
