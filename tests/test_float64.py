"""The same laws in 64-bit floats; run in a process of its own with JAX_ENABLE_X64=1."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.layers import LinearRNN
from tests.parameterizations.reference import IDS, MAPS, decay, exact, view
from tests.parameterizations.test_laws import WEIGHTS, derivatives, functions_of
from tests.tolerances import assert_close

pytestmark = pytest.mark.float64


@pytest.mark.parametrize("map_", MAPS, ids=IDS)
def test_values_and_no_nan_in_float64(map_):
    weights = jnp.asarray(np.concatenate([-np.logspace(-300, 300, 201), [0.0], np.logspace(-300, 300, 201)]))
    assert weights.dtype == jnp.float64
    for name, function in functions_of(map_).items():
        for order, values in enumerate(derivatives(function)(weights)):
            assert not np.isnan(np.asarray(values)).any(), (name, order)
    for order in (0, 1):
        values, condition = exact(view(map_.name, map_.link, "decay"), WEIGHTS, order)[:2]
        actual = derivatives(map_.decay, 1)(jnp.asarray(WEIGHTS))[order]
        assert_close(np.asarray(actual), np.asarray(values), condition=np.asarray(condition) + 1)
    assert exact(decay(map_.name, map_.link), WEIGHTS, 0)


@pytest.mark.parametrize("map_", MAPS, ids=IDS)
def test_linear_rnn_in_float64(map_):
    decays = jnp.geomspace(0.01, 0.9, 7)
    eigenvalues = {"continuous": -decays, "one-minus": 1 - decays, "exponential": jnp.exp(-decays)}[map_.link]
    time = "continuous" if map_.link == "continuous" else "discrete"
    model = LinearRNN(map_, eigenvalues, time=time, key=jax.random.key(0))
    np.testing.assert_allclose(model.eigenvalues(), eigenvalues, rtol=1e-11)
    x = jax.random.normal(jax.random.key(1), (50,))
    np.testing.assert_allclose(model(x)[0], np.convolve(x, model.kernel(50))[:50], atol=1e-12)
