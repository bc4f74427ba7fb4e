"""The same laws in 64-bit floats; run in a process of its own with JAX_ENABLE_X64=1."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import sympy

from stablessm import Parameterization
from stablessm.layers import LinearRNN
from tests.parameterizations.reference import IDS, MAPS, decay, exact, view
from tests.parameterizations.test_laws import WEIGHTS, derivatives, functions_of
from tests.tolerances import assert_close

pytestmark = pytest.mark.float64


@pytest.mark.matrix(3)
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


@pytest.mark.matrix(2)
@pytest.mark.parametrize("map_", MAPS, ids=IDS)
def test_linear_rnn_in_float64(map_):
    decays = jnp.geomspace(0.01, 0.9, 7)
    eigenvalues = {"continuous": -decays, "one-minus": 1 - decays, "exponential": jnp.exp(-decays)}[map_.link]
    time = "continuous" if map_.link == "continuous" else "discrete"
    model = LinearRNN(map_, eigenvalues, time=time, key=jax.random.key(0))
    np.testing.assert_allclose(model.eigenvalues(), eigenvalues, rtol=1e-11)
    x = jax.random.normal(jax.random.key(1), (50,))
    np.testing.assert_allclose(model(x)[0], np.convolve(x, model.kernel(50))[:50], atol=1e-12)


@pytest.mark.parametrize("formula", ["softplus(w)", "sigmoid(w)"])
def test_the_logarithm_of_the_eigenvalue_is_correct_to_a_few_ulp(formula):
    one = Parameterization.from_formula(formula, link="one-minus")
    decay_of = sympy.lambdify(sympy.Symbol("w", real=True), one.expression, "mpmath")
    weights = np.linspace(-4.0, 0.3, 500)  # 1 - s stays above 0.1, where it would be ill-conditioned
    found = np.asarray(one.log_eigenvalue(jnp.asarray(weights)))
    with mpmath.workdps(40):
        expected = [mpmath.log(1 - decay_of(mpmath.mpf(weight))) for weight in weights]
    errors = [float(abs((value - right) / right)) for value, right in zip(found, expected, strict=True)]
    assert max(errors) <= 10 * np.finfo(np.float64).eps
