"""Euler's step beside zero-order hold, its own stability, and the bias: one recurrence for all of them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LinearRNN

KEY = jax.random.key(0)
run = eqx.filter_jit(lambda model, series: model(series)[0])
kernel = eqx.filter_jit(lambda model, length: model.kernel(length))
response = eqx.filter_jit(lambda model, length: model.zero_input_response(length))
DECAYS = jnp.geomspace(0.01, 0.9, 6)


def make(is_complex=False, decays=DECAYS, **more):
    eigenvalues = jax.lax.complex(-decays, jnp.linspace(0.1, 1.0, len(decays))) if is_complex else -decays
    model = LinearRNN(PARAMETERIZATIONS["softplus"], eigenvalues, time="continuous", key=KEY, **more)
    if model.bias is None:
        return model
    return eqx.tree_at(lambda m: m.bias, model, jax.random.normal(KEY, model.bias.shape))


def joined(pair, is_complex):
    return np.asarray(pair[..., 0]) + 1j * np.asarray(pair[..., 1]) if is_complex else np.asarray(pair)


@pytest.mark.matrix(3)  # both rules, and both kinds of eigenvalues
@pytest.mark.parametrize("discretisation", ["zero_order_hold", "euler"])
@pytest.mark.parametrize("is_complex", [False, True])
def test_recurrence_kernel_and_bias_agree(discretisation, is_complex):
    model = make(is_complex, step_size=0.5, discretisation=discretisation, bias=True)
    lam, dt = np.asarray(model.eigenvalues(), complex), 0.5
    euler = 1 + lam * dt, np.full(6, dt)
    multiplier, gain = euler if discretisation == "euler" else (np.exp(lam * dt), np.expm1(lam * dt) / lam)
    x, state, dense = np.asarray(jax.random.normal(KEY, (40,)), float), np.zeros(6, complex), []
    for value in x:
        drive = joined(model.input_weight, is_complex)[:, 0] * value + joined(model.bias, is_complex)
        state = multiplier * state + gain * drive
        dense.append((joined(model.readout, is_complex)[0] @ state).real)
    np.testing.assert_allclose(run(model, x.astype("float32")), dense, atol=5e-5)
    by_kernel = np.convolve(x, kernel(model, 40))[:40] + response(model, 40)
    np.testing.assert_allclose(by_kernel, dense, atol=5e-5)
    many = make(is_complex, inputs=2, outputs=3, discretisation=discretisation, bias=True)
    series = jax.random.normal(KEY, (4, 9, 2))
    outputs = eqx.filter_vmap(run, in_axes=(None, 0))(many, series)
    np.testing.assert_allclose(eqx.filter_jit(many.last_output)(series), outputs[:, -1], atol=1e-5)
    assert response(many, 9).shape == (9, 3) and make(inputs=2, outputs=3).zero_input_response(9).max() == 0


@pytest.mark.parametrize("is_complex", [False, True])
def test_margin_is_the_distance_of_the_multiplier_from_the_unit_circle(is_complex):
    for discretisation in ("zero_order_hold", "euler"):
        model = make(is_complex, jnp.geomspace(0.3, 3.0, 6), discretisation=discretisation)
        expected = 1 - np.abs(np.asarray(model.discretised()[0]))
        np.testing.assert_allclose(model.margin(), expected, atol=3e-7)
    assert (expected < 0).any() and (expected > 0).any()  # Euler is unstable beyond s dt = 2, whatever the map
    slow = make(decays=jnp.asarray([1e-12]), discretisation="euler")
    np.testing.assert_allclose(slow.margin(), 1e-12, rtol=1e-4)


def test_euler_has_finite_gradients_where_its_multiplier_is_zero_or_negative():
    model = make(decays=jnp.asarray([0.5, 1.0, 1.7]), discretisation="euler")
    gradient = eqx.filter_jit(eqx.filter_grad(lambda m: (m.kernel(30) ** 2).sum()))(model)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_bad_discretisations_get_a_sentence():
    with pytest.raises(ValueError, match="must be 'zero_order_hold' or 'euler', but got 'eular'"):
        make(discretisation="eular")
    with pytest.raises(ValueError, match="discrete time is not discretised"):
        LinearRNN(
            PARAMETERIZATIONS["direct"].replace(link="one-minus"), 1 - DECAYS, time="discrete", key=KEY,
            discretisation="euler",
        )  # fmt: skip
