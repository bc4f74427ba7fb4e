"""Layers in 64-bit floats; run in a process of its own with JAX_ENABLE_X64=1."""

import equinox as eqx
import jax
import numpy as np
import pytest
from references import REFERENCES, SIGMA
from test_layer_laws import LEGAL, make, run

from stablessm.layers import pointwise

pytestmark = pytest.mark.float64


@pytest.mark.matrix(5)
@pytest.mark.parametrize(("kind", "case"), LEGAL)
def test_layers_agree_with_their_references_to_twelve_digits(kind, case):
    more = {"order": 3} if kind == "hyena" else {"normalise": case[1] != "continuous"} if kind == "selective" else {}
    layer, x = make(kind, case, **more), jax.random.normal(jax.random.key(3), (50, 3))
    exact = REFERENCES[kind](layer, np.asarray(x))
    np.testing.assert_allclose(run(layer, x)[0], exact, atol=1e-12 * (1 + np.abs(exact).max()))


@pytest.mark.parametrize("activation", ["tanh", "gelu", "relu"])
def test_a_pointwise_network_is_two_layers_without_memory_to_twelve_digits(activation):
    """U_1 sigma(U_2 x + b_2) + b_1 in NumPy against the recurrences with weight 0, at sizes of a real network."""
    keys = jax.random.split(jax.random.key(0), 5)
    lower, upper = pointwise(256, inputs=64, activation=activation, key=keys[0]), pointwise(64, inputs=256, key=keys[1])
    lower, upper = (
        eqx.tree_at(lambda one: one.bias, one, jax.random.normal(key, one.bias.shape))
        for one, key in ((lower, keys[2]), (upper, keys[3]))
    )
    x = jax.random.normal(keys[4], (100, 64))
    u2, b2, u1, b1 = map(np.asarray, (lower.input_weight, lower.bias, upper.input_weight, upper.bias))
    network = SIGMA[activation](np.asarray(x) @ u2.T + b2) @ u1.T + b1
    np.testing.assert_allclose(upper.hidden(lower(x)[0])[0], network, rtol=0, atol=1e-12)
