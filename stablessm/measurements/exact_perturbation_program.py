"""The program of `exact_perturbation`: best fits made on the host when it is built, ascent and bounds where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.approximation import InnerProduct, best_fits
from stablessm.approximation.nodes import integral
from stablessm.measurements.balls import random_directions
from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.exact_perturbation import ExactPerturbationSettings
from stablessm.measurements.exact_search import BLOCKS, Sets, errors_of
from stablessm.measurements.mode_bounds import Modes, stability_radius
from stablessm.measurements.mode_norms import NORMS, Nodes, kernel, norms
from stablessm.measurements.published_training import trained_widths, training_of
from stablessm.parameterizations import ParameterizationError
from stablessm.parameterizations.views import Views
from stablessm.targets import Target, target_of
from stablessm.targets.evaluate import evaluate

_CLOSE = 1e-3  # relative: a map reaches a decay that its inverse gives back
_PANEL = 4.0
_RISE = 1e-5  # of 1 + t: step of the differences that give the derivative of the target


class ExactStart(NamedTuple):
    """Everything of a cell that depends on the seed and not on the map.

    Attributes:
        fit: start of the training; empty where best fits are perturbed.
        directions: N(0, 1) entries of each block, leading axis of directions.
    """

    fit: Any
    directions: dict[str, Array]


class Extent(NamedTuple):
    """What is known over one extent before anything runs; arrays of the host.

    Attributes:
        infinite: whether it is.
        nodes: a quadrature of it.
        target: rho and rho' at the nodes, and rho(0).
        decay: decays of the best fits, shape (widths, states), 1 where there is no mode.
        amplitude: likewise, 0 where there is no mode.
    """

    infinite: bool
    nodes: Nodes
    target: tuple[np.ndarray, np.ndarray, np.ndarray]
    decay: np.ndarray
    amplitude: np.ndarray


def exact_perturbation(static: Mapping[str, Any], settings: ExactPerturbationSettings) -> Program:
    """Program of `exact_perturbation`."""
    parameterization: Views = static["parameterization"]
    if parameterization.link != "continuous":
        raise ParameterizationError(
            f"modes are perturbed in continuous time, but {parameterization.name!r} is under {parameterization.link!r}"
        )
    target = target_of(static["target"])
    if not isinstance(target, Target):
        raise ParameterizationError(
            f"the target {target.name!r} is known at its samples alone; choose one with a formula"
        )
    states, step_size = max(settings.width), settings.step_size
    extents = [_extent(target, one == "infinite", settings) for one in settings.extent]
    training = training_of(static, settings, states) if settings.source == "trained" else None
    sets = Sets(settings.perturbed, settings.ball, settings.norm, settings.beta, settings.starts, settings.ascents)
    chosen = jnp.asarray([NORMS.index(one) for one in settings.norm])

    def start(seed: Array) -> ExactStart:
        key = jax.random.fold_in(jax.random.key(seed), 1)
        drawn = random_directions(key, settings.repeat, states)
        return ExactStart(() if training is None else training.start_of(seed), {name: drawn[name] for name in BLOCKS})

    def trained(traced: Mapping[str, Array], starts: ExactStart, index: Array) -> tuple[Modes, Array]:
        model = trained_widths(static, settings, training, starts.fit, index, traced).model
        return Modes(model.weight, model.input_weight[..., 0], model.readout[..., 0, :]), model.weight[:, 0] < jnp.inf

    def best(extent: Extent, constants: Mapping[str, Array]) -> tuple[Modes, Array]:
        """Modes of every width, U = |c|, and whether the map reaches their decays."""
        decay, amplitude = (jnp.asarray(one, jnp.result_type(float)) for one in (extent.decay, extent.amplitude))
        weight, has = weights_of(parameterization, decay, constants)
        size = jnp.sqrt(jnp.abs(amplitude))
        idle = ~jnp.isfinite(weight) | (size == 0)  # takes the weight of the first mode: does nothing strange
        modes = Modes(jnp.where(idle, weight[:, :1], weight), size, jnp.sign(amplitude) * size)
        return modes, (has | (size == 0)).all(-1)

    def measure(traced: Mapping[str, Array], starts: ExactStart, index: Array) -> Mapping[str, Array]:
        constants, dtype = constants_of(traced), jnp.result_type(float)
        directions = {name: block[index].astype(dtype) for name, block in starts.directions.items()}

        def decay(weight: Array) -> Array:
            return parameterization.decay(weight, **constants)

        def over(extent: Extent, models: tuple[Modes, Array]) -> dict[str, Array]:
            nodes = Nodes(*(jnp.asarray(one, dtype) for one in extent.nodes))
            rho = [jnp.asarray(one, dtype) for one in extent.target]

            def of_model(one: tuple[Modes, Array]) -> dict[str, Array]:
                modes, reached = one
                s, alive = decay(modes.recurrent), (modes.input != 0) | (modes.readout != 0)
                own = kernel(nodes, s, modes.input * modes.readout)
                radii = {
                    "stability_radius": stability_radius(decay, modes),
                    "euler_radius": stability_radius(decay, modes, most=2 / step_size),
                    "slowest_decay": jnp.where(alive, s, jnp.inf).min(),
                    "approximation_error": norms(nodes, *(a - b for a, b in zip(own, rho, strict=True)))[chosen],
                }
                found = errors_of(decay, nodes, modes, directions, sets, infinite=extent.infinite)
                known = {name: jnp.where(reached, value, jnp.nan) for name, value in (radii | found).items()}
                used = alive.sum().astype(jnp.int32)
                return {**known, "modes_used": used, "reached": reached.astype(jnp.int8)}

            return {**jax.lax.map(of_model, models), "target_norm": norms(nodes, *rho)[chosen]}

        of_training = None if training is None else trained(traced, starts, index)
        every = [over(one, of_training or best(one, constants)) for one in extents]
        return {name: jnp.stack([one[name] for one in every]) for name in every[0]}

    coordinates = {
        "extent": np.asarray(settings.extent),
        "width": np.asarray(settings.width, np.int64),
        "perturbed": np.asarray(settings.perturbed),
        "ball": np.asarray(settings.ball),
        "norm": np.asarray(settings.norm),
        "beta": np.asarray(settings.beta),
    }
    return Program(coordinates, start, measure)


def weights_of(parameterization: Views, decay: Array, constants: Mapping[str, Array]) -> tuple[Array, Array]:
    """Return the weights of decays, and whether the map has them: at an end of its image that no weight has it has not.

    Args:
        parameterization: the map.
        decay: s > 0, of any shape.
        constants: of the map.
    """
    weight = jax.jit(lambda s: parameterization.weight(s, **constants))(decay)  # traced: no check
    near = jnp.abs(parameterization.decay(weight, **constants) - decay) <= _CLOSE * decay
    return weight, near & jnp.isfinite(weight)


def _extent(target: Target, infinite: bool, settings: ExactPerturbationSettings) -> Extent:
    horizon = None if infinite else settings.horizon * settings.step_size

    def rho(times: np.ndarray) -> np.ndarray:
        return evaluate(target, times)

    times, weights = integral(rho, horizon, growth=_PANEL)
    rise = _RISE * (1 + times)
    ahead, behind = times + rise, np.maximum(times - rise, 0)
    slope = (rho(ahead) - rho(behind)) / (ahead - behind)
    fits = (
        () if settings.source == "trained" else best_fits(InnerProduct("continuous", horizon), target, settings.width)
    )
    padded = [one.padded(max(settings.width)) for one in fits]
    return Extent(
        infinite,
        Nodes(times, weights),
        (rho(times), slope, rho(np.zeros(1))[0]),
        np.array([one.decay for one in padded]),
        np.array([one.amplitude for one in padded]),
    )
