"""The program of `nonlinear_perturbation`: train a stack, move its weights, and measure the three distances.

|H - H~| <= |H - H^| + |H^ - H~|: of the target H, the trained model H^ and the perturbed one H~. All three distances
are taken over the same probes, so that the inequality holds for what is stored and not only for the suprema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import Array

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.draws import normal, uniform
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.kernel_fit import check_start, domain_watch
from stablessm.measurements.nonlinear_perturbation import NonlinearPerturbationSettings
from stablessm.measurements.stacks import StackStart, StackStartOf, stack_of
from stablessm.memory.supremum import memory_function
from stablessm.models import Stack
from stablessm.parameterizations.links import time_of
from stablessm.targets import target_of
from stablessm.training.optimizers import OPTIMIZERS
from stablessm.training.outcomes import judge
from stablessm.training.run import run

_EXACT = jax.lax.Precision.HIGHEST
Weights = list[Array]


class NonlinearStart(NamedTuple):
    """Everything of a cell that depends on the seed and not on the map.

    Attributes:
        stack: the weights of the start.
        key: PRNG key data of the training series.
        probes: series of |x| <= 1, shape (probes, probe horizon).
        directions: N(0, 1) entries of every block, with a leading axis of directions.
    """

    stack: StackStart
    key: Array
    probes: Array
    directions: Weights


@dataclass(frozen=True)
class NonlinearStartOf:
    """seed -> NonlinearStart; equal for all maps, links, targets and activations of one sweep."""

    width: int
    settings: NonlinearPerturbationSettings

    def __call__(self, seed: Array) -> NonlinearStart:
        """Draw the start of a seed (uint32 scalar)."""
        one, key = self.settings, jax.random.fold_in(jax.random.key(seed), 1)
        train_key, probe_key, direction_key = jax.random.split(key, 3)
        stack = StackStartOf(self.width, 0, one)(seed)
        noise = 2 * uniform(probe_key, (one.probes, one.probe_horizon)) - 1
        kind = (np.arange(one.probes) % 3)[:, None]
        probes = jnp.where(kind == 0, noise, jnp.where(kind == 1, jnp.sign(noise), noise[:, :1]))
        shapes = [jnp.shape(block) for block in _blocks_of_start(stack)]
        sizes = [int(np.prod(shape)) for shape in shapes]
        keys = jax.vmap(lambda repeat: jax.random.fold_in(direction_key, repeat))(jnp.asarray(one.repeat, jnp.uint32))
        entries = jax.vmap(lambda key: normal(key, (sum(sizes),)))(keys)
        parts = jnp.split(entries, np.cumsum(sizes)[:-1], axis=1)
        return NonlinearStart(
            stack=stack,
            key=jax.random.key_data(train_key),
            probes=probes,
            directions=[part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)],
        )


def blocks(stack: Stack) -> Weights:
    """Return the blocks of weights of a stack: recurrent weights of all layers, then U, b, and the readout."""
    layers = stack.layers
    return [
        *(one.weight for one in layers),
        *(one.input_weight for one in layers),
        *(one.bias for one in layers),
        stack.readout,
    ]


def _blocks_of_start(start: StackStart) -> Weights:
    return [*start.decay, *start.input_weight, *start.bias, start.readout[-1]]


def moved(stack: Stack, direction: Weights, beta: Array, *, perturbed: str, ball: str) -> Stack:
    """Return the stack whose weights have moved by beta along a direction, every block scaled to its own sphere.

    Args:
        stack: the model.
        direction: entries of every block, as `blocks` orders them.
        beta: size.
        perturbed: "recurrent" or "all".
        ball: "inf" or "block_l2".
    """
    norm = jnp.linalg.norm if ball == "block_l2" else (lambda values: jnp.abs(values).max())
    depth = len(stack.layers)
    new = [
        block + beta * part / norm(part.ravel()) if place < depth or perturbed == "all" else block
        for place, (block, part) in enumerate(zip(blocks(stack), direction, strict=True))
    ]
    return eqx.tree_at(blocks, stack, new)


def distance(one: Array, other: Array, step: float) -> Array:
    """Return sup |y - y'| + sup |increments of y - y'|/dt over series and times; infinite where it overflows.

    Args:
        one: outputs, shape (series, time).
        other: outputs of the other model.
        step: dt.
    """
    apart = one - other
    rise = jnp.diff(apart, axis=1, prepend=jnp.zeros_like(apart[:, :1]))
    found = jnp.abs(apart).max() + jnp.abs(rise).max() / step
    return jnp.where(jnp.isnan(found), jnp.inf, found)


def nonlinear_perturbation(static: Mapping[str, Any], settings: NonlinearPerturbationSettings) -> Program:
    """Program of `nonlinear_perturbation`."""
    parameterization = static["parameterization"]
    fillings = static.get("fillings", ((parameterization,),))
    check_start(fillings, settings.slowest_decay, settings.fastest_decay)
    left_domain = domain_watch(fillings, settings.slowest_decay)
    step = settings.step_size if time_of(parameterization.link) == "continuous" else 1.0
    rho = target_of(static["target"]).kernel(settings.probe_horizon, step_size=settings.step_size)
    whole = step * scipy.linalg.toeplitz(rho, np.zeros_like(rho))
    part = step * scipy.linalg.toeplitz(rho[: settings.horizon], np.zeros(settings.horizon))

    def wanted(inputs: Array, transform: np.ndarray) -> Array:
        return jnp.matmul(inputs, jnp.asarray(transform.T, inputs.dtype), precision=_EXACT)

    def measure(traced: Mapping[str, Array], starts: NonlinearStart, index: Array) -> Mapping[str, Array]:
        start = jax.tree.map(lambda leaf: leaf[index], starts)
        constants = constants_of(traced)
        model = stack_of(parameterization, start.stack, static["activation"], settings, constants)
        parts, rest = eqx.partition(model, _trained(model, constants))
        key = jax.random.wrap_key_data(start.key)

        def loss(parts: Stack, place: Array) -> Array:
            inputs = normal(jax.random.fold_in(key, place), (settings.batch, settings.horizon))
            y = jax.vmap(lambda x: eqx.combine(parts, rest)(x)[0])(inputs)
            return jnp.mean((y - wanted(inputs, part)) ** 2)

        optimizer = OPTIMIZERS[static["optimizer"]].transformation(traced["learning_rate"], _without_recurrent)
        trajectory = run(loss, parts, optimizer, steps=settings.steps)
        trained = eqx.combine(trajectory.parameters, rest)
        verdict = judge(
            trajectory.losses,
            nonfinite_step=trajectory.nonfinite_step,
            left_domain=jnp.stack([left_domain(one) for one in trained.layers]).any(),
            zero_loss=jnp.asarray((part**2).sum(1).mean(), trajectory.losses.dtype),
        )
        outputs = jax.vmap(lambda x: trained(x)[0])(start.probes)
        target = wanted(start.probes, whole)

        betas = jnp.asarray(settings.beta, outputs.dtype)

        def errors(perturbed: str) -> tuple[Array, Array, Array]:
            def at(direction: Weights, beta: Array) -> tuple[Array, Array, Array]:
                model = moved(trained, direction, beta, perturbed=perturbed, ball=settings.ball)
                y = jax.vmap(lambda x: model(x)[0])(start.probes)
                return distance(y, outputs, step), distance(y, target, step), _margin(model)

            # one direction at a time: all sizes of it make a batch that stays in the cache
            return jax.lax.map(lambda direction: jax.vmap(lambda beta: at(direction, beta))(betas), start.directions)

        apart, total, margin = (jnp.stack(part) for part in zip(*map(errors, settings.perturbed), strict=True))
        memory = {"climbs": settings.climbs, "length": settings.probe_horizon}
        return {
            **ending(trajectory, verdict),
            "approximation_distance": distance(outputs, target, step),
            "perturbation_distance": apart,
            "total_distance": total,
            "largest_perturbation_distance": jax.lax.cummax(apart.max(1), axis=1),
            "largest_total_distance": jax.lax.cummax(total.max(1), axis=1),
            "perturbed_margin": margin,
            "trained_margin": _margin(trained),
            "memory_function": memory_function(trained, **memory) / step,
            "initial_memory_function": memory_function(model, **memory) / step,
            "target_memory_function": jnp.abs(jnp.asarray(rho, outputs.dtype)),
            "initial_eigenvalue": _eigenvalues(model.layers),
            "trained_eigenvalue": _eigenvalues(trained.layers),
        }

    coordinates = {
        "perturbed": np.asarray(settings.perturbed),
        "repeat": np.asarray(settings.repeat, np.int64),
        "beta": np.asarray(settings.beta),
        "time": np.arange(settings.probe_horizon) * step,
        "layer": 1 + np.arange(settings.depth, dtype=np.int32),
        "state": np.arange(static["width"], dtype=np.int32),
    }
    return Program(coordinates, NonlinearStartOf(static["width"], settings), measure)


def _trained(model: Stack, constants: Mapping[str, Array]) -> Stack:
    """The mask of what is trained: every array but the map's constants."""
    mask = jax.tree.map(eqx.is_inexact_array, model)
    return eqx.tree_at(
        lambda m: [one.constants for one in m.layers], mask, [dict.fromkeys(constants, False) for _ in model.layers]
    )


def _without_recurrent(parts: Stack) -> Stack:
    mask = jax.tree.map(lambda _: True, parts)
    return eqx.tree_at(lambda m: [one.weight for one in m.layers], mask, [False] * len(parts.layers))


def _eigenvalues(layers: Sequence[Any]) -> Array:
    return jnp.stack([one.eigenvalues() for one in layers])


def _margin(stack: Stack) -> Array:
    """The smallest margin of a state, per step; not positive where the recurrence is unstable, -inf where it is NaN."""
    return jnp.stack([jnp.nan_to_num(one.margin(), nan=-jnp.inf).min() for one in stack.layers]).min()
