"""The program of the measurement `layer_perturbation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from stablessm import losses
from stablessm.distances import sobolev_distance
from stablessm.layers import LAYERS
from stablessm.layers.hippo import diagonal_eigenvalues, normal_plus_low_rank
from stablessm.layers.roles import REST, roles
from stablessm.measurements.base import Program
from stablessm.measurements.layer_perturbation import LayerPerturbationSettings
from stablessm.parameterizations import Parameterization
from stablessm.targets import target_of


def layer_perturbation(static: Mapping[str, Any], settings: LayerPerturbationSettings) -> Program:
    """Program of `layer_perturbation`: one width after the other."""
    map_: Parameterization = static["parameterization"]
    horizons, length = settings.error_horizon, max(settings.error_horizon[-1], settings.horizon)
    rho = target_of(static["target"]).kernel(length)
    betas = np.asarray(settings.beta)

    def layer_of(states: int, key: Array) -> Any:
        more: dict[str, Any] = {"step_sizes": (settings.shortest_step, settings.longest_step)}
        start = diagonal_eigenvalues("legs", states)
        if settings.layer == "s4":
            whole, half = normal_plus_low_rank(states), slice(states // 2, None)
            start = whole.eigenvalues[half]
            more |= {"low_rank": whole.low_rank[half], "drive": whole.inputs[half]}
        elif settings.layer == "dss":
            more["length"] = settings.horizon
        return LAYERS[settings.layer].build(map_, start, inputs=1, key=key, **more)

    def measure(traced: Mapping[str, Array], starts: Array, index: Array) -> Mapping[str, Array]:
        keys = jax.random.split(jax.random.wrap_key_data(starts[index]), len(settings.width))
        found = [
            _of_one(layer_of(states, key), rho, settings, traced["learning_rate"], jax.random.fold_in(key, 1))
            for states, key in zip(settings.width, keys, strict=True)
        ]
        dtype = jnp.result_type(float)
        weights = losses.time_weights(settings.horizon, dtype)
        zero = losses.white_noise(jnp.zeros(settings.horizon, dtype), rho[: settings.horizon], weights=weights)
        return {"zero_loss": zero, **jax.tree.map(lambda *leaves: jnp.stack(leaves), *found)}

    coordinates = {
        "width": np.asarray(settings.width, np.int64),
        "perturbed": np.asarray(settings.perturbed),
        "error_horizon": np.asarray(horizons, np.int64),
        "beta": betas,
    }
    return Program(coordinates, lambda seed: jax.random.key_data(jax.random.key(seed)), measure)


def _of_one(
    layer: Any, rho: np.ndarray, settings: LayerPerturbationSettings, rate: Array, key: Array
) -> dict[str, Array]:
    """Train a layer of one channel and perturb it."""
    parts, rest = eqx.partition(layer, eqx.is_inexact_array)
    dtype = layer.weight.dtype
    target, weights = jnp.asarray(rho, dtype), losses.time_weights(settings.horizon, dtype)

    def kernel(parts: Any, length: int) -> Array:
        return eqx.combine(parts, rest).channel_kernels(length)[0]

    def loss(parts: Any) -> Array:
        return losses.white_noise(kernel(parts, settings.horizon), target[: settings.horizon], weights=weights)

    optimizer = optax.adam(rate)

    def advance(_: Array, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        updates, state = optimizer.update(jax.grad(loss)(carry[0]), carry[1])
        return optax.apply_updates(carry[0], updates), state

    parts, _ = jax.lax.fori_loop(0, settings.steps, advance, (parts, optimizer.init(parts)))

    def decay(parts: Any) -> Array:
        return layer.parameterization.decay(parts.weight).min()

    def error(parts: Any) -> Array:
        """An unstable kernel overflows, and differences of infinities are NaN: infinitely far."""
        found = kernel(parts, len(rho)) - target
        apart = sobolev_distance(found, jnp.zeros_like(found), settings.error_horizon)
        return jnp.where(jnp.isnan(apart) & ~(decay(parts) > 0), jnp.inf, apart)

    leaves, tree = jax.tree.flatten(parts)
    moving = {
        "all": [1.0] * len(leaves),
        "recurrent": [float(role != REST) for role in jax.tree.leaves(roles(parts))],
    }

    def along(number: Array) -> Array:
        """Errors of every set at every size, shape (perturbed, beta, horizons), along one direction."""
        own = jax.random.split(jax.random.fold_in(key, number), len(leaves))
        cube = [jax.random.uniform(one, leaf.shape, dtype, -1, 1) for one, leaf in zip(own, leaves, strict=True)]

        def at(mask: list[float], beta: Array) -> Array:
            moved = [leaf + beta * is_in * step for leaf, is_in, step in zip(leaves, mask, cube, strict=True)]
            return error(jax.tree.unflatten(tree, moved))

        sizes = jnp.asarray(settings.beta, dtype)
        return jnp.stack(
            [jax.lax.map(lambda beta, one=moving[name]: at(one, beta), sizes) for name in settings.perturbed]
        )

    every = jax.lax.map(along, jnp.arange(settings.repeat)).max(0)
    return {
        "final_loss": loss(parts),
        "trained_margin": decay(parts),
        "fit_error": error(parts),
        "largest_perturbation_error": jnp.moveaxis(jax.lax.cummax(every, axis=1), 2, 1),
    }
