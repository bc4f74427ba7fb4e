"""The linear RNN: every mode gives the same numbers, and every map starts at the same eigenvalues."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS, ParameterizationError
from stablessm.layers import LinearRNN

KEY = jax.random.key(0)
run = eqx.filter_jit(lambda model, series, state=None: model(series, state))
DECAYS = jnp.geomspace(0.01, 0.9, 6)


def eigenvalues(link, is_complex):
    real = {"continuous": -DECAYS, "one-minus": 1 - DECAYS, "exponential": jnp.exp(-DECAYS)}[link]
    if not is_complex:
        return real
    phase = jnp.linspace(0.1, 3.0, len(DECAYS))
    return jax.lax.complex(real, phase) if link == "continuous" else real * jnp.exp(1j * phase)


def make(name, link, is_complex=False, **more):
    time = "continuous" if link == "continuous" else "discrete"
    map_ = PARAMETERIZATIONS[name].replace(link=link)
    return LinearRNN(map_, eigenvalues(link, is_complex), time=time, key=KEY, **more)


@pytest.mark.matrix(3)
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize(
    ("name", "link"),
    [("direct", "continuous"), ("best", "one-minus"), ("exp", "exponential"), ("softplus", "continuous")],
)
def test_full_pass_step_and_kernel_agree(name, link, is_complex):
    model = make(name, link, is_complex)
    np.testing.assert_allclose(model.eigenvalues(), eigenvalues(link, is_complex), atol=3e-7)
    x = jax.random.normal(KEY, (33,))
    whole, last = run(model, x)
    np.testing.assert_allclose(whole, np.convolve(x, jax.jit(lambda: model.kernel(33))())[:33], atol=2e-5)
    multiplier, gain = (np.asarray(part, complex) for part in model.discretised())
    join = (lambda p: np.asarray(p[..., 0]) + 1j * np.asarray(p[..., 1])) if is_complex else np.asarray
    state, dense = np.zeros(6, complex), []
    for value in np.asarray(x, float):
        state = multiplier * state + gain * join(model.input_weight)[:, 0] * value
        dense.append((join(model.readout)[0] @ state).real)
    np.testing.assert_allclose(whole, dense, atol=2e-5)
    for cut in (0, 1, 16, 33):
        first, middle = run(model, x[:cut])
        second, end = run(model, x[cut:], middle)
        np.testing.assert_allclose(np.concatenate([first, second]), whole, atol=2e-6)
        np.testing.assert_allclose(end, last, atol=2e-6)
    state = model.initial_state()
    step = eqx.filter_jit(model.step)
    for k in range(3):
        state, y = step(state, x[k])
        np.testing.assert_allclose(y, whole[k], atol=2e-6)


@pytest.mark.parametrize("is_complex", [False, True])
def test_features_and_last_output(is_complex):
    model = make("best", "continuous", is_complex, inputs=3, outputs=2)
    x = jax.random.normal(KEY, (4, 9, 3))
    outputs = eqx.filter_vmap(run, in_axes=(None, 0))(model, x)[0]
    assert outputs.shape == (4, 9, 2) and jax.eval_shape(lambda: model.kernel(9)).shape == (9, 2, 3)
    np.testing.assert_allclose(eqx.filter_jit(model.last_output)(x), outputs[:, -1], atol=2e-6)


def test_gradients_differ_between_maps_exactly_by_the_slope():
    def gradient(name):
        model = make(name, "continuous")
        return model, eqx.filter_jit(eqx.filter_grad(lambda m: (m.kernel(40) ** 2).sum()))(model)

    _, direct = gradient("direct")
    for name in ("exp", "softplus", "best"):
        model, other = gradient(name)
        slope = -jax.jit(jax.vmap(jax.grad(model.parameterization.decay)))(model.weight)
        np.testing.assert_allclose(other.weight, direct.weight * slope, rtol=2e-4)
        np.testing.assert_allclose(other.readout, direct.readout, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"time": "discrete"}, "continuous time"),
        ({"time": "never"}, "must be 'continuous' or 'discrete'"),
        ({"step_size": 0.0}, "positive and finite"),
        ({"step_size": float("nan")}, "positive and finite"),
        ({"inputs": 2}, "both be given"),
        ({"eigenvalues": -3.0 * jnp.ones(2)}, "must lie in \\(0, 2\\]"),
        ({"eigenvalues": jnp.zeros((2, 2))}, "must have the shape"),
    ],
)
def test_bad_arguments_get_a_sentence(change, sentence):
    arguments = {"eigenvalues": -DECAYS, "time": "continuous", "key": KEY} | change
    with pytest.raises((ParameterizationError, ValueError), match=sentence):
        LinearRNN(PARAMETERIZATIONS["best"], arguments.pop("eigenvalues"), **arguments)


@pytest.mark.parametrize("eigenvalue, sentence", [(-0.5, r"exp\(-s\) > 0, but got -0.5"), (np.nan, "but got nan")])
def test_an_eigenvalue_that_no_decay_gives_is_named(eigenvalue, sentence):
    discrete = PARAMETERIZATIONS["exp"].replace(link="exponential")
    with pytest.raises(ValueError, match=sentence):
        LinearRNN(discrete, np.float32([0.5, eigenvalue]), time="discrete", key=jax.random.key(0))
