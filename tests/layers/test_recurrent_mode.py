"""The two modes and the written-out layer agree at every length and order of the list, in float32 and in float64."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import REFERENCES

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LAYERS
from stablessm.layers.hippo import diagonal_eigenvalues, normal_plus_low_rank

KINDS = {"s4": {}, "s4d": {}, "s4d, bilinear": {"rule": "bilinear"}, "dss": {"length": 100},
         "dss, exp": {"variant": "exp"}, "s5": {}, "lru": {}, "linear_rnn": {}}  # fmt: skip
LENGTHS = [1, 2, 3, 15, 16, 17, 784, pytest.param(4096, marks=pytest.mark.slow)]
ORDERS = [1, 2, 3, 64]


def make(kind, states):
    name, more = kind.partition(",")[0], dict(KINDS[kind])
    start, map_ = diagonal_eigenvalues("legs", states), PARAMETERIZATIONS["best"]
    if name == "s4":
        whole = normal_plus_low_rank(states)
        if states % 2 == 0:
            half = slice(states // 2, None)
            start, more = whole.eigenvalues[half], {"low_rank": whole.low_rank[half], "drive": whole.inputs[half]}
        else:  # pairs or real poles, and not both
            start = -np.linspace(0.5, 1.0, states)
    if name in ("lru", "linear_rnn"):
        start = start * 0.05  # a step is one unit of time
    return LAYERS[name].build(map_, start, inputs=1, key=jax.random.key(states), **more)


@eqx.filter_jit
def modes(layer, x):
    """The outputs by convolution and step by step."""
    steps = jax.lax.scan(lambda state, one: layer.step(state, one), layer.initial_state(), x)[1]
    return layer(x)[0], steps


def apart(kind, states, length):
    layer, x = make(kind, states), jax.random.normal(jax.random.key(length), (length, 1))
    exact = REFERENCES[kind.partition(",")[0]](layer, np.asarray(x, float))
    return [np.abs(np.asarray(y) - exact).max() / np.abs(exact).max() for y in modes(layer, x)]


@pytest.mark.matrix(97)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("states", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_modes_agree_in_single_precision(kind, states, length):
    convolved, stepped = apart(kind, states, length)
    assert convolved <= 2e-5 and stepped <= 2e-5 + length * 2.0**-24


@pytest.mark.float64
@pytest.mark.matrix(97)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("states", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_modes_agree_in_double_precision(kind, states, length):
    assert max(apart(kind, states, length)) <= 1e-11


def test_weights_are_the_same_system_at_any_length_and_step():
    """What runs at L runs at 2L, and at half the step size: the continuous system, sampled twice as finely."""
    layer = eqx.tree_at(lambda one: one.feedthrough, make("dss, exp", 64), jnp.zeros(1))
    half = eqx.tree_at(lambda one: one.step_weight, layer, layer.step_map.weight(layer.step_size() / 2))
    kernels = eqx.filter_jit(
        lambda one, two: (one.channel_kernels(64), one.channel_kernels(128), two.channel_kernels(128))
    )
    once, twice, fine = (np.asarray(one[0]) for one in kernels(layer, half))
    np.testing.assert_allclose(twice[:64], once, atol=1e-6 * np.abs(once).max())
    # zero-order hold is exact: two half steps of a held input are one whole step
    np.testing.assert_allclose(fine[0::2] + fine[1::2], once, atol=1e-5 * np.abs(once).max())
