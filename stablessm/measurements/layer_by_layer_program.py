r"""The program of `layer_by_layer`: a network is trained, and what the theory says of one layer is asked of each.

- Theorem 3.4 layer by layer: |dLoss/dw| <= C |f'(w)|/margin(w)^2 with a C that the map does not enter. Fitted is the
  ratio of both sides for every raw weight; at the start, where all maps have one network, it is one for all of them.
- The memory function up to a layer is that of the blocks below and the layer's own, from the input to its features, and
  starts from rest: where many zero inputs have led.
- The raw weights of one layer move by beta while all others stay.
- The rate of one layer is the rate at which its raw weights alone are trained, the others staying at theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program
from stablessm.measurements.bracketing import bracketed
from stablessm.measurements.draws import normal
from stablessm.measurements.fit_programs import ending
from stablessm.measurements.layer_by_layer import ABLATIONS, LayerByLayerSettings
from stablessm.measurements.network_fit import Data, NetworkFit, network_fit
from stablessm.measurements.ratios import QUANTILES, constants_by_layer, ratios_by_layer
from stablessm.memory.functions import rest
from stablessm.memory.supremum import SIZES, memory_function
from stablessm.models import Network
from stablessm.tasks.architecture import ArchitectureError
from stablessm.tasks.maps import map_layers, map_weights, mapped_blocks
from stablessm.tasks.scores import outputs, row_losses
from stablessm.training.batches import taken
from stablessm.training.outcomes import is_stable
from stablessm.training.run import recorded_steps

_DIRECTIONS = 8  # of the inputs whose memory is asked for, where a step has several features
_TOKENS = 64


def layer_by_layer(static: Mapping[str, Any], settings: LayerByLayerSettings) -> Program:
    """Program of `layer_by_layer`.

    Raises:
        ArchitectureError: no layer has eigenvalues of a map; or memory is asked for and a block looks ahead.
    """
    fit = network_fit(static, settings, **ABLATIONS[static["ablation"]])
    layers, kept = mapped_blocks(fit.model), recorded_steps(settings.steps, settings.records)
    if not layers:
        raise ArchitectureError("the network has no layer with eigenvalues of a map, of which anything is measured")
    if "memory" in settings.measured and not fit.model.is_causal:
        raise ArchitectureError("a block that looks ahead has no memory function: leave 'memory' out of `measured`")

    def observe(parameters: Any, gradient: Any, _: Any) -> tuple[Array, Array]:
        model = fit.with_parameters(parameters)
        return ratios_by_layer(parameters, gradient), constants_by_layer(model, gradient)

    def measure(traced: Mapping[str, Array], starts: Any, index: Array, data: Data) -> Mapping[str, Array]:
        parameters, key = fit.parameters(starts, index), starts[1][index]
        trajectory, verdict = fit.train(
            parameters, key, data,
            rate=traced["learning_rate"], steps=settings.steps, observe=observe, records=settings.records,
        )  # fmt: skip
        trained = fit.with_parameters(trajectory.parameters)
        metric = f"test_{fit.task.metric}"
        found = dict(zip(("test_loss", metric, f"{metric}_error"), fit.scores(trained, data, "test"), strict=True))
        ratios, constants = trajectory.observations
        if "memory" in settings.measured:
            both = jax.tree.map(lambda *pair: jnp.stack(pair), parameters, trajectory.parameters)
            remembered = jax.lax.map(
                lambda one: memory_by_layer(fit.with_parameters(one), settings.memory_horizon), both
            )
            found |= dict(zip(("initial_memory_function", "memory_function"), remembered, strict=True))
        if "perturbation" in settings.measured:
            found |= _perturbed(fit, trained, key, data, settings)
        found = {name: jnp.where(jnp.isfinite(value), value, jnp.inf) for name, value in found.items()}
        if {"rates", "layer_rates"} & set(settings.measured):
            found |= _rates(fit, parameters, key, data, settings, traced["learning_rate"])
        return {
            **ending(trajectory, verdict),
            "loss": trajectory.losses[np.asarray(kept)],
            "gradient_to_weight_ratio": ratios,
            "gradient_constant": constants,
            **found,
        }

    coordinates = {
        "step": np.asarray(kept, np.int32),
        "layer": np.asarray(layers, np.int32),
        "quantile": np.asarray(QUANTILES),
    }
    if "memory" in settings.measured:
        coordinates["time"] = np.arange(settings.memory_horizon)
    if "perturbation" in settings.measured:
        coordinates["repeat"] = np.asarray(settings.repeat, np.int64)
        coordinates["beta"] = np.asarray(settings.beta)
    return Program(coordinates, fit.start_of, measure, (fit.data,))


def memory_by_layer(network: Network, length: int) -> Array:
    """Return the memory function from the input up to each layer with a map, shape (layers, length); a lower estimate.

    Of values the inputs +-4^i are tried in up to 8 directions; of tokens the embeddings of up to 64, held from step 0
    on after the vector 0. The largest feature of a block counts.

    Args:
        network: without blocks that look ahead.
        length: number of steps.
    """
    asked = [place - 1 for place in mapped_blocks(network)]
    if network.has_tokens:
        tried = network.encoder.weight[:_TOKENS]
    else:
        features = network.encoder.in_features
        signs = np.sign(np.random.default_rng(0).standard_normal((_DIRECTIONS - 1, features)))
        ways = np.concatenate([np.ones((1, features)), signs if features > 1 else signs[:0]])
        tried = jnp.asarray((np.asarray(SIZES)[:, None, None] * ways).reshape(-1, features))

    def features_of(x: Array, state: Any) -> tuple[Array, Any]:
        y = x if network.has_tokens else jax.vmap(network.encoder)(x)
        seen, states = [], []
        for block, own in zip(network.blocks, state or (None,) * len(network.blocks), strict=True):
            y, own = block(y, own)
            seen.append(y)
            states.append(own)
        return jnp.stack([seen[place] for place in asked], axis=1), tuple(states)

    state = rest(features_of, length, tried[0])
    return memory_function(features_of, length, inputs=tried, state=state, apart=True).max(-1).T


def _perturbed(
    fit: NetworkFit, trained: Network, key: Array, data: Data, settings: LayerByLayerSettings
) -> dict[str, Array]:
    """What becomes of the outputs where the raw weights of one layer at a time move by beta."""
    rows = taken(data["test"], jnp.arange(min(settings.probes, len(data["test"].inputs))))
    places = mapped_blocks(trained)
    direction_key = jax.random.fold_in(jax.random.wrap_key_data(key), 3)
    norm = jnp.linalg.norm if settings.ball == "block_l2" else (lambda values: jnp.abs(values).max())
    weights = _raw_weights(trained, places)

    def moved(layer: Array, repeat: Array, beta: Array) -> Network:
        """The network whose weights of one layer, counted from 0 among those with a map, have moved."""
        new = []
        for number, own in enumerate(weights):
            key = jax.random.fold_in(jax.random.fold_in(direction_key, repeat), number)
            entries = normal(key, (sum(one.size for one in own),))
            step = jnp.where(layer == number, beta, 0.0) * entries / norm(entries)
            ends = np.cumsum([one.size for one in own])[:-1]
            parts = zip(own, jnp.split(step, ends), strict=True)
            new += [one + part.reshape(one.shape).astype(one.dtype) for one, part in parts]
        return eqx.tree_at(lambda model: [one for own in _raw_weights(model, places) for one in own], trained, new)

    def answered(model: Network) -> tuple[Array, Array]:
        axes = (0, None if rows.lengths is None else 0)
        y = jax.vmap(lambda x, length: outputs(model, x, length, None)[0], axes)(rows.inputs, rows.lengths)
        return y, row_losses(fit.task, model, rows, None)[0].mean()  # of the same outputs, which XLA finds

    betas = jnp.asarray([0.0, *settings.beta], jnp.result_type(float))  # the first is the network as it was trained

    def along(layer: Array, repeat: Array) -> tuple[Array, Array, Array]:
        def at(beta: Array) -> tuple[Array, Array, Array]:
            model = moved(layer, repeat, beta)
            margins = jnp.stack([_least_margin(model.blocks[place - 1]) for place in places])
            return *answered(model), margins[layer]

        y, losses, margins = jax.vmap(at)(betas)
        apart = jnp.abs(y[1:] - y[:1]).reshape(len(settings.beta), -1).max(1)
        return jnp.where(jnp.isnan(apart), jnp.inf, apart), losses[1:], margins[1:]

    numbers = jnp.arange(len(places)).repeat(len(settings.repeat))
    directions = jnp.tile(jnp.asarray(settings.repeat, jnp.uint32), len(places))
    apart, losses, margins = (
        one.reshape(len(places), len(settings.repeat), len(settings.beta))
        for one in jax.lax.map(lambda both: along(*both), (numbers, directions))
    )
    return {
        "perturbation_distance": apart,
        "largest_perturbation_distance": jax.lax.cummax(apart.max(1), axis=1),
        "perturbed_margin": margins,
        "perturbed_loss": losses,
    }


def _raw_weights(model: Network, places: tuple[int, ...]) -> list[list[Array]]:
    return [map_weights(model.blocks[place - 1]) for place in places]


def _least_margin(block: Any) -> Array:
    layers = map_layers(block)
    margins = [one.parameterization.margin(one.weight, **getattr(one, "constants", {})).min() for one in layers]
    return jnp.stack(margins).min()


def _rates(
    fit: NetworkFit, parameters: Any, key: Array, data: Data, settings: LayerByLayerSettings, base: Array
) -> dict[str, Array]:
    """The largest stable rate of all weights, and of the raw weights of each layer alone."""
    places = mapped_blocks(fit.model)

    def stable(which: Array, rate: Array) -> Array:
        # 0 is the whole network; a layer alone has this rate whatever the multiplier of recurrent weights
        ones = jax.tree.map(lambda leaf: jnp.ones((), leaf.dtype), parameters)
        factors = jax.tree.map(lambda one: jnp.where(which == 0, rate / base, one).astype(one.dtype), ones)
        own = rate / (base * settings.recurrent_multiplier)
        for number in range(len(places)):
            factors = eqx.tree_at(
                lambda model, number=number: _raw_weights(model, places)[number],
                factors,
                replace_fn=lambda one, number=number: jnp.where(which == number + 1, own, one).astype(one.dtype),
            )
        _, verdict = fit.train(parameters, key, data, rate=base, steps=settings.rate_steps, factors=factors)
        return is_stable(verdict.outcome)

    asked = [0] * ("rates" in settings.measured) + [*range(1, len(places) + 1)] * ("layer_rates" in settings.measured)
    grid = np.geomspace(settings.lowest_rate, settings.highest_rate, settings.scan)
    found = jax.lax.map(
        lambda which: bracketed(lambda rate: stable(which, rate), grid, settings.bisections), jnp.asarray(asked)
    )
    names = "largest_stable_learning_rate", "smallest_unstable_learning_rate", "reentry"
    whole = {name: one[0] for name, one in zip(names, found, strict=True)} if asked[0] == 0 else {}
    if "layer_rates" not in settings.measured:
        return whole
    return whole | {f"layer_{name}": one[-len(places) :] for name, one in zip(names, found, strict=True)}
