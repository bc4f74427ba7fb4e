"""Each layer of a network by itself: C of the law, memory up to a layer, where its rates end."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LinearRNN
from stablessm.measurements.bracketing import bracketed
from stablessm.measurements.layer_by_layer import LayerByLayerSettings
from stablessm.measurements.layer_by_layer_program import memory_by_layer
from stablessm.measurements.ratios import constants_by_layer
from stablessm.memory.supremum import SIZES
from stablessm.models import Block, Network
from stablessm.sweeps.run import run_sweep


def network(name, *, depth=1, seed=0):
    keys = jax.random.split(jax.random.key(seed), 2 * depth + 1)
    layers = [
        LinearRNN(PARAMETERIZATIONS[name], jnp.array([-0.4, -1.0]), time="continuous", inputs=3, outputs=3, key=key)
        for key in keys[::2]
    ]
    blocks = [Block(layer, mixing="none", key=key) for layer, key in zip(layers, keys[1::2], strict=False)]
    return Network(blocks, purpose="classification", outputs=2, key=keys[-1])


def test_fitted_constant_is_what_the_gradient_was_made_of():
    """dLoss/dlambda = 3 / decay^2, and w moves lambda by f'(w)."""
    for name in ("direct", "best"):
        model = network(name)
        map_, weight = model.blocks[0].layer.parameterization, model.blocks[0].layer.weight
        slope = jax.vmap(jax.grad(map_.eigenvalue))(weight) * 3 / map_.decay(weight) ** 2
        gradient = eqx.tree_at(lambda one: one.blocks[0].layer.weight, model, slope)
        np.testing.assert_allclose(constants_by_layer(model, gradient), np.full((1, 5), 3.0), rtol=1e-5)


def test_memory_up_to_a_layer_is_the_largest_increment_from_where_zeros_have_led():
    model, length = network("exp", depth=2), 6
    found = memory_by_layer(model, length)
    block, features = model.blocks[0], jax.vmap(model.encoder)
    _, state = block(features(jnp.zeros((length, 1))), None)
    run = jax.jit(lambda x: block(features(x * jnp.ones((length, 1))), state)[0])
    silence, largest = run(0.0), np.zeros(length)
    for size in SIZES:
        away = np.abs(np.diff(np.asarray(run(size) - silence), axis=0, prepend=0)).max(1)
        largest = np.maximum(largest, away / (abs(size) + 1))
    np.testing.assert_allclose(found[0], largest, rtol=1e-4)
    assert found.shape == (2, length)


def test_the_end_of_stability_is_bracketed():
    rates = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    again = bracketed(lambda rate: ((rate > 0.7) & (rate < 3)) | (rate > 7), rates, 12)
    assert again.stable < 3 <= again.unstable < again.stable * 1.001 and again.reentry == 1
    none = bracketed(lambda rate: rate < 0, rates, 2)
    assert (none.stable, none.unstable, none.reentry) == (0, 0.5, 0)
    assert bracketed(lambda rate: rate > 0, rates, 2)[:2] == (8, np.inf)


def test_settings_that_cannot_be_are_refused():
    for given, words in (
        ({"lowest_rate": 2.0, "highest_rate": 1.0}, "smaller"),
        ({"recurrent_multiplier": 0.0}, "above 0"),
        ({"beta": [0.1, 0.1]}, "ascend"),
    ):
        with pytest.raises(ValueError, match=words):
            LayerByLayerSettings(**given)


@pytest.mark.slow
def test_a_sweep_starts_at_one_constant_for_all_maps(tmp_path):
    settings = {"data": "digits", "options": {"sequence": "rows"}, "layer": ["lru"], "states": 4, "steps": 6,
                "batch": 8, "records": 3, "memory_horizon": 8, "repeat": [0, 1], "beta": [0.0, 0.1], "probes": 4,
                "lowest_rate": 1e-3, "highest_rate": 1e3, "scan": 4, "bisections": 1, "rate_steps": 6}  # fmt: skip
    axes = {"parameterization": ["exp", "best"], "link": ["exponential"], "ablation": ["none", "norm"], "width": [4],
            "learning_rate": [1e-2], "seed": [0]}  # fmt: skip
    spec = {"name": "layers", "measurement": "layer_by_layer", "axes": axes, "settings": settings}
    found = run_sweep(spec, out=tmp_path).squeeze()
    constant = found["gradient_constant"].isel(step=0)
    np.testing.assert_allclose(*(constant.sel(parameterization=one) for one in ("exp", "best")), rtol=1e-3)
    assert (constant.sel(ablation="none") != constant.sel(ablation="norm")).any()
    assert (found["perturbation_distance"].sel(beta=0) == 0).all()
    assert (found["perturbation_distance"].sel(beta=0.1) > 0).all()
    low, high = (found[f"layer_{end}_learning_rate"] for end in ("largest_stable", "smallest_unstable"))
    assert (low < high).all() and {"largest_stable_learning_rate", "memory_function"} <= set(found)
