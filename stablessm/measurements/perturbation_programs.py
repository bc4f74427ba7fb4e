"""The program of `perturbation`: train, then perturb the weights and measure how far the model is from its target.

All widths are models of the largest (`published_training`); the directions of a narrower one leave its dead states
alone. One program is compiled for a map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import losses
from stablessm.distances import sobolev_distance
from stablessm.layers import LinearRNN
from stablessm.measurements.balls import Direction, moved, on_sphere, random_directions
from stablessm.measurements.base import Program
from stablessm.measurements.kernel_fit import Start, StartOf, batch, time_weights_of
from stablessm.measurements.perturbation import PerturbationSettings
from stablessm.measurements.perturbation_search import SEARCHES
from stablessm.measurements.published_training import trained_widths, training_of
from stablessm.targets import target_of

Results = Mapping[str, Array]


class PerturbationStart(NamedTuple):
    """Everything of a cell that depends on the seed and not on the map.

    Attributes:
        fit: start of the training, of the largest width; a narrower model takes its first states.
        directions: N(0, 1) entries of every block, leading axis of directions; equal for all maps of a seed.
        test: the sampled loss as a quadratic form, on inputs that the training has not seen.
    """

    fit: Start
    directions: dict[str, Array]
    test: losses.SampledForm


@dataclass(frozen=True)
class PerturbationStartOf:
    """seed -> PerturbationStart; equal for all maps, links, discretisations and targets of one sweep."""

    fit: StartOf
    settings: PerturbationSettings

    def __call__(self, seed: Array) -> PerturbationStart:
        """Draw the start of a seed (uint32 scalar)."""
        directions_key, test_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), 1))
        return PerturbationStart(
            fit=self.fit(seed),
            directions=random_directions(directions_key, self.settings.repeat, self.fit.width),
            test=losses.sampled_form(batch(test_key, 0, self.settings), weights=time_weights_of(self.settings)),
        )


class Errors(NamedTuple):
    """What a model does, measured against a target.

    Attributes:
        distance: W^{1,inf} distance over each horizon, shape (horizons,); infinite where it overflows.
        loss: sampled loss; infinite where it overflows.
        margin: 1 - |largest multiplier|; not positive where the model is unstable.
    """

    distance: Array
    loss: Array
    margin: Array


def errors(
    model: LinearRNN,
    target: Array,
    horizons: Sequence[int],
    loss: Callable[[Array, Array], Array],
    alive: Array | bool = True,
) -> Errors:
    """Measure a model against a target kernel.

    An unstable model overflows where its multipliers grow long enough, and differences of infinities are NaN: both are
    an infinite error. A NaN of a stable model would be a mistake, and is let through.

    Args:
        model: scalar linear RNN.
        target: rho_k over at least the longest horizon.
        horizons: numbers of steps.
        loss: (difference of the kernels, offset of the outputs) -> scalar.
        alive: which states count in the margin, shape (states,).
    """
    difference, offset = model.kernel(len(target)) - target, model.zero_input_response(len(target))
    distance = sobolev_distance(difference, offset, horizons, step_size=model.step_size)
    margins = jnp.nan_to_num(model.margin(), nan=-jnp.inf)  # outside of the domain of a formula
    margin = jnp.where(alive, margins, jnp.inf).min()

    def exploded(value: Array) -> Array:
        return jnp.where(jnp.isnan(value) & (margin <= 0), jnp.inf, value)

    return Errors(exploded(distance), exploded(loss(difference, offset)), margin)


def perturbation(static: Mapping[str, Any], settings: PerturbationSettings) -> Program:
    """Program of `perturbation`."""
    states = max(settings.width)
    fit = training_of(static, settings, states)
    horizons, search = settings.error_horizon, SEARCHES[settings.search]
    sets = tuple((blocks, ball) for blocks in settings.perturbed for ball in settings.ball)
    length = max(horizons[-1], settings.horizon)
    target = target_of(static["target"]).kernel(length, step_size=settings.step_size)

    def measure(traced: Mapping[str, Array], starts: PerturbationStart, index: Array) -> Results:
        directions, form = jax.tree.map(lambda leaf: leaf[index], (starts.directions, starts.test))
        dtype = starts.fit.decay.dtype
        rho, betas = jnp.asarray(target, dtype), jnp.asarray([0.0, *settings.beta], dtype)

        def loss(difference: Array, offset: Array) -> Array:
            return losses.of_form(form, difference[: settings.horizon], offset[: settings.horizon])

        def perturbed(model: LinearRNN, width: Array) -> Results:
            alive = jnp.arange(states) < width

            def at(direction: Direction, beta: Array) -> Errors:
                return errors(moved(model, direction, beta), rho, horizons, loss, alive)

            kept = jax.tree.map(lambda block: jnp.where(alive, block, 0), directions)
            unit = [jax.vmap(lambda direction, one=one: on_sphere(direction, *one))(kept) for one in sets]
            found = search(at, sets, jax.tree.map(lambda *blocks: jnp.stack(blocks), *unit), betas)
            shape = len(settings.perturbed), len(settings.ball)
            every = jax.tree.map(lambda leaf: leaf.reshape(*shape, *leaf.shape[1:]), found)
            own = Errors(*(leaf[0, 0, 0, 0] for leaf in every))  # the trained model: beta = 0
            raw = Errors(*(leaf[:, :, :, 1:] for leaf in every))
            distance = jnp.moveaxis(raw.distance, -1, 2)  # perturbed, ball, horizon, repeat, beta
            return {
                "trained_margin": own.margin,
                "stable_after_training": (own.margin > 0).astype(jnp.int8),
                "fit_error": own.distance,
                "perturbation_error": distance,
                "largest_perturbation_error": running_maximum(distance),
                "perturbation_loss": raw.loss,
                "largest_perturbation_loss": running_maximum(raw.loss),
                "perturbed_margin": raw.margin,
            }

        trained = trained_widths(static, settings, fit, starts.fit, index, traced)
        widths = jnp.asarray(settings.width)
        alive = jnp.arange(states) < widths[:, None]
        decay = jax.vmap(lambda model: model.parameterization.decay(model.weight, **model.constants))(trained.model)
        return {
            **trained.ending,
            "initial_eigenvalue": trained.initial_eigenvalue,
            "trained_decay": jnp.where(alive, decay, jnp.nan),
            **jax.lax.map(lambda one: perturbed(*one), (trained.model, widths)),
        }

    coordinates = {
        "state": np.arange(states, dtype=np.int32),
        "width": np.asarray(settings.width, np.int64),
        "perturbed": np.asarray(settings.perturbed),
        "ball": np.asarray(settings.ball),
        "error_horizon": np.asarray(horizons, np.int64),
        "repeat": np.asarray(settings.repeat, np.int64),
        "beta": np.asarray(settings.beta),
    }
    return Program(coordinates, PerturbationStartOf(fit.start_of, settings), measure)


def running_maximum(values: Array) -> Array:
    """Return the largest value over the directions and all smaller sizes: (..., repeat, beta) -> (..., beta)."""
    return jax.lax.cummax(values.max(-2), axis=values.ndim - 2)
