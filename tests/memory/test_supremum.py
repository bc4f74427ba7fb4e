"""The supremum over inputs and the three queries: closed forms, dense scans, and pieces that change nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import SSM, LinearRNN
from stablessm.memory import answer, memory_function, of_kernel
from stablessm.memory.queries import QUERIES
from stablessm.models import Stack

KEY = jax.random.key(0)
DECAYS = np.geomspace(0.05, 0.9, 4)


def stack(activation, layers=2):
    keys = jax.random.split(KEY, layers + 1)
    parts = [
        SSM(
            PARAMETERIZATIONS["best"],
            -DECAYS,
            time="continuous",
            inputs=4 if place else 1,
            activation=activation,
            key=k,
        )
        for place, k in enumerate(keys[1:])
    ]
    return Stack(parts, readout=jax.random.normal(keys[0], (1, 4)) / 2, scalar=True)


def test_every_query_of_a_linear_model_reads_its_kernel():
    model, x, settle = LinearRNN(PARAMETERIZATIONS["exp"], -DECAYS, time="continuous", key=KEY), -1.5, 9
    kernel = np.asarray(model.kernel(60 + settle), float)
    exact = {
        "heaviside": kernel[:60],
        "impulse": kernel[:60],
        "reversed": kernel[:60] - kernel[settle : 60 + settle],
    }
    for query in QUERIES:
        found = jax.jit(lambda query=query: answer(model, x, 60, query=query, settle=settle))()
        np.testing.assert_allclose(found, np.abs(exact[query] * x), atol=2e-5, err_msg=query)


@pytest.mark.parametrize("query", list(QUERIES))
def test_pieces_change_nothing(query):
    model = stack("tanh")
    one, pieces = (
        jax.jit(lambda piece=piece: answer(model, 0.7, 50, query=query, settle=31, piece=piece))() for piece in (64, 7)
    )
    np.testing.assert_allclose(pieces, one, atol=2e-6)


def test_the_search_reaches_a_dense_scan_at_every_time():
    model = stack("tanh")
    sizes = np.concatenate([sign * np.geomspace(1e-3, 1e3, 400) for sign in (1, -1)])
    searches = {"dense": {"inputs": sizes}, "scanned": {}, "climbed": {"climbs": 40}}
    found = {name: jax.jit(lambda how=how: memory_function(model, 40, **how))() for name, how in searches.items()}
    assert (found["scanned"] < 0.8 * found["dense"]).any()  # the grid of sizes is too coarse for this model
    assert (found["climbed"] > 0.995 * found["dense"]).all() and (found["climbed"] >= found["scanned"]).all()


def test_proportions_of_several_inputs_are_searched():
    """tanh(h_1) - tanh(h_2) of two separate inputs is queried best by (x, -x), not by one of them alone."""

    def model(x, state):
        return jnp.tanh(x[:, 0]) - jnp.tanh(x[:, 1] / 4), state

    grid = np.geomspace(1e-2, 1e2, 300)
    one, two = np.meshgrid(grid, grid)
    best = ((np.tanh(one) + np.tanh(two / 4)) / (np.maximum(one, two) + 1)).max()
    proportions = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]
    found = jax.jit(lambda: memory_function(model, 1, inputs=proportions, climbs=120))()
    assert float(found[0]) == pytest.approx(best, rel=1e-4)


def test_outputs_are_kept_apart_or_the_largest_counts():
    model = LinearRNN(PARAMETERIZATIONS["exp"], -DECAYS, time="continuous", inputs=2, outputs=3, key=KEY)
    signs = np.array([[1.0, 1.0], [1.0, -1.0]]) * 1e5
    apart, kernel = jax.jit(lambda: (memory_function(model, 12, inputs=signs, apart=True), model.kernel(12)))()
    np.testing.assert_allclose(apart, np.abs(kernel).sum(-1), atol=3e-5)
    np.testing.assert_allclose(apart.max(-1), of_kernel(kernel), atol=3e-5)


def test_bad_queries_get_a_sentence():
    with pytest.raises(ValueError, match="heaviside, impulse, reversed"):
        answer(lambda x, state: (x, state), 1.0, 3, query="sine")
    with pytest.raises(ValueError, match="`length` must be at least 1"):
        answer(lambda x, state: (x, state), 1.0, 0)
