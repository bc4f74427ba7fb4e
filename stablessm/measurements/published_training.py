"""The training of the published Fig. 1 at several widths, all in models of the largest.

A narrower model has states with U = c = b = 0, whose gradients are 0, so that they stay out of its kernel. One program
is compiled for all widths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm.layers import LinearRNN
from stablessm.measurements.fit_programs import ending, train
from stablessm.measurements.kernel_fit import KernelFit, Start, kernel_fit
from stablessm.measurements.perturbation import PublishedTraining


class Trained(NamedTuple):
    """Models of every width, leading axis of widths.

    Attributes:
        model: after training.
        initial_eigenvalue: at the start, shape (widths, states), NaN for dead states.
        loss: at the end, shape (widths,).
        ending: the variables of `outcome_variables`.
    """

    model: LinearRNN
    initial_eigenvalue: Array
    loss: Array
    ending: Mapping[str, Array]


def training_of(static: Mapping[str, Any], settings: PublishedTraining, states: int) -> KernelFit:
    """Return the problem for models of the largest width.

    Args:
        static: `parameterization` and `target`.
        settings: of the training.
        states: the largest width.
    """
    return kernel_fit({**static, "width": states}, settings, bias=True)


def narrowed(start: Start, width: Array) -> Start:
    """Return a start whose states from `width` on are dead, the readout scaled as at that width."""
    states = start.decay.shape[-1]
    alive = jnp.arange(states) < width
    scale = jnp.where(alive, (states / width) ** 0.5, 0).astype(start.readout.dtype)
    return start._replace(input_weight=jnp.where(alive[:, None], start.input_weight, 0), readout=start.readout * scale)


def trained_widths(
    static: Mapping[str, Any],
    settings: PublishedTraining,
    fit: KernelFit,
    starts: Start,
    index: Array,
    traced: Mapping[str, Array],
    early: ArrayLike | None = None,
) -> Trained:
    """Train all widths of the settings, side by side or, where a width stops at the loss of the one before, in turn.

    Args:
        static: static axes.
        settings: of the training, with `width`.
        fit: what `training_of` returns.
        starts: stacked starts of the largest width.
        index: which of them.
        traced: `learning_rate` and the constants.
        early: whether a width stops at the loss of the one before, possibly traced; by default what `stop` says.
    """
    states = starts.decay.shape[-1]

    def one(width: Array, enough: Array | None = None) -> Trained:
        start = narrowed(starts, width)
        untrained, trajectory, verdict = train(static, settings, fit, start, index, traced, enough=enough)
        eigenvalue = jnp.where(jnp.arange(states) < width, untrained.eigenvalues(), jnp.nan)
        model = eqx.combine(trajectory.parameters, untrained)
        return Trained(model, eigenvalue, trajectory.losses[-1], ending(trajectory, verdict))

    widths = jnp.asarray(settings.width)
    if early is None and settings.stop == "steps":
        return jax.vmap(one)(widths)

    def in_turn(before: Array, width: Array) -> tuple[Array, Trained]:
        found = one(width, before if early is None else jnp.where(early, before, 0))
        return found.loss, found

    nothing = jnp.asarray(0, jnp.result_type(float))
    return jax.lax.scan(in_turn, nothing, widths)[1]
