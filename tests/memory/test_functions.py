"""Memory functions: closed forms of linear models first, then models with a bias, nonlinear ones and many features."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LinearRNN
from stablessm.memory import context_differences, fit_decay, heaviside, impulse, memory_function, of_kernel, probes
from stablessm.memory.functions import rest
from stablessm.memory.probes import joined, run

KEY = jax.random.key(0)
DECAYS = np.geomspace(0.05, 0.9, 4)
LENGTH = 60


def linear(name="best", **more):
    return LinearRNN(PARAMETERIZATIONS[name], -jnp.asarray(DECAYS), time="continuous", key=KEY, **more)


def exact(model, length=LENGTH):
    """sum_i c_i lambda_bar_i^k B_bar_i U_i in float64."""
    powers = np.exp(-np.outer(np.arange(length), DECAYS))
    gain = -np.expm1(-DECAYS) / DECAYS
    return powers @ (np.asarray(model.readout, float)[0] * gain * np.asarray(model.input_weight, float)[:, 0])


def test_linear_forms_equal_the_closed_form():
    model, length = linear(), LENGTH
    kernel = exact(model)
    scale = np.abs(kernel).max()
    inputs, lags = jax.random.normal(KEY, (length,)), np.array([0, 3, 17, 59])

    @jax.jit
    def forms(x):
        differences = context_differences(model, inputs, lags, change=x)
        return heaviside(model, x, length), impulse(model, x, length), differences

    for x in (1.0, -2.5):
        by_step, by_impulse, differences = forms(x)
        np.testing.assert_allclose(by_step, np.abs(kernel * x), atol=2e-5 * scale)
        np.testing.assert_allclose(by_impulse, kernel * x, atol=2e-5 * scale)
        np.testing.assert_allclose(differences, np.abs(kernel)[lags], atol=2e-5 * scale)
    read, searched = jax.jit(lambda: (of_kernel(model.kernel(length)), memory_function(model, length)))()
    np.testing.assert_allclose(read, np.abs(kernel), atol=2e-6 * scale)
    np.testing.assert_allclose(searched, np.abs(kernel), atol=2e-5 * scale)


def test_a_step_at_a_time_gives_the_same_memory():
    model = linear()
    states, outputs = model.initial_state(), []
    for _ in range(5):
        states, y = model.step(states, jnp.asarray(1.0))
        outputs.append(float(y))
    np.testing.assert_allclose(heaviside(model, 1.0, 5), np.abs(np.diff([0.0, *outputs])), atol=1e-5)


def test_the_zero_input_response_of_a_bias_is_subtracted():
    plain, biased = linear(), linear(bias=True)
    biased = eqx.tree_at(lambda m: m.bias, biased, jnp.linspace(-1.0, 2.0, len(DECAYS)))
    assert float(jnp.abs(biased(jnp.zeros(9))[0]).max()) > 0.1
    for form in (heaviside, impulse):
        np.testing.assert_allclose(form(biased, 1.0, LENGTH), form(plain, 1.0, LENGTH), atol=2e-5)
    state = rest(biased, 200, 0.0)
    np.testing.assert_allclose(heaviside(biased, 1.0, 9, state=state), heaviside(plain, 1.0, 9), atol=2e-5)


def saturating(x, state):
    """h_k = h_{k-1} / 2 + x_k, y = tanh(h)."""

    def step(h, x):
        h = h / 2 + x
        return h, jnp.tanh(h)

    state, y = jax.lax.scan(step, jnp.zeros(()) if state is None else state, x)
    return y, state


def test_a_bounded_activation_is_measured_at_its_best_input():
    found = memory_function(saturating, 12)
    h = np.array([2 - 0.5**k for k in range(12)])
    sizes = np.concatenate([4.0 ** np.arange(-5, 11), -(4.0 ** np.arange(-5, 11))])
    outputs = np.tanh(np.outer(sizes, h))
    changes = np.abs(np.diff(outputs, axis=1, prepend=0)) / (np.abs(sizes)[:, None] + 1)
    np.testing.assert_allclose(found, changes.max(0), atol=1e-6)
    assert fit_decay(np.arange(12.0), np.asarray(found)).exponential_rate == pytest.approx(np.log(2), rel=0.1)


def test_many_features_are_summed_over_the_inputs_and_the_largest_output_counts():
    model, noise = linear(inputs=3, outputs=2), jax.random.normal(KEY, (20, 3))
    x = np.array([1.0, -1.0, 1.0])
    signs = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)]) * 1e5

    @jax.jit
    def forms():
        differences = context_differences(model, noise, [0, 7], change=x)
        return model.kernel(20), heaviside(model, x, 20), memory_function(model, 20, inputs=signs), differences

    kernel, by_step, searched, differences = map(np.asarray, forms())
    np.testing.assert_allclose(of_kernel(kernel), np.abs(kernel).sum(-1).max(-1), rtol=1e-6)
    np.testing.assert_allclose(by_step, np.abs(kernel @ x), atol=2e-5)
    np.testing.assert_allclose(searched, of_kernel(kernel), atol=3e-5)
    np.testing.assert_allclose(differences, np.abs(kernel @ x).max(-1)[[0, 7]], atol=2e-5)


@pytest.mark.slow
def test_joined_probes_read_what_each_reads_alone():
    model, noise = linear(), jax.random.normal(KEY, (30,))
    alone = [probes.heaviside(1.0, 30), probes.impulse(2.0, 30), probes.context(noise, [0, 4, 29])]
    for one, many in zip([run(model, probe) for probe in alone], run(model, joined(*alone)), strict=True):
        np.testing.assert_allclose(many, one, rtol=1e-5, atol=1e-7)


def test_a_lag_outside_the_series_gets_a_sentence():
    with pytest.raises(ValueError, match="from 0 to 3"):
        context_differences(linear(), jnp.ones(4), [4])


@pytest.mark.parametrize(("slow", "fast"), [(0.1, 0.1), (0.05, 0.2)])
def test_two_layer_cascade_has_the_kernel_of_theory_and_its_decay(slow, fast):
    """e^{-pt} * e^{-qt} = (e^{-pt} - e^{-qt})/(q - p), t e^{-pt} for equal rates; sampled finely, with dt."""
    dt, length = 0.05, 1600

    def layer(rate):
        model = LinearRNN(PARAMETERIZATIONS["exp"], -jnp.array([rate]), time="continuous", step_size=dt, key=KEY)
        return eqx.tree_at(lambda m: (m.input_weight, m.readout), model, (jnp.ones((1, 1)), jnp.ones((1, 1))))

    first, second = layer(slow), layer(fast)
    kernel = np.asarray(impulse(lambda x, state: second(first(x)[0]), 1.0 / dt, length), float)
    times = dt * np.arange(length)
    continuous = times * np.exp(-slow * times) if slow == fast else (
        (np.exp(-slow * times) - np.exp(-fast * times)) / (fast - slow)
    )  # fmt: skip
    np.testing.assert_allclose(kernel, continuous, atol=dt * 1.05)
    fit = fit_decay(times, kernel.astype(np.float32))
    assert fit.kind == "exponential" and fit.rate == pytest.approx(slow, rel=1e-2)
