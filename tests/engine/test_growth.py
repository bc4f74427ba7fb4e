"""Banks of growing poles: infinite from where the true output is, and not before, whatever the chunk."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.engine import filter_bank, first_bad_step, poles
from stablessm.engine.growth import by_steps, overflows

LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("chunk", [64, 7, 1])
@pytest.mark.parametrize("growth", [1.5, 1.3, 50.0])
@pytest.mark.matrix(3)
def test_the_first_bad_step_is_that_of_the_output(growth, chunk):
    """Nothing drives the poles for 100 steps: lambda^100 is beyond float32, and the output is 0."""
    rng = np.random.default_rng(3)
    log_modulus, phase = np.float32([-0.1, growth, 0.0]), np.float32([1.0, 2.0, 0.0])
    weights = (rng.normal(size=3) + 1j * rng.normal(size=3)).astype(np.complex64)
    inputs = np.zeros(190, np.float32)
    inputs[100:] = rng.normal(size=90)
    lam = np.exp(log_modulus.astype(np.clongdouble) + 1j * phase.astype(np.longdouble))
    state, true = np.zeros(3, np.clongdouble), []
    for one in inputs:
        state = lam * state + one
        true.append((weights * state).sum().real)
    true = np.clip(true, -1e300, 1e300).astype(np.float64)
    bad = int(np.argmax(np.abs(true) > LARGEST))
    made = poles(log_modulus, phase)
    outputs, _ = filter_bank(made, jnp.asarray(weights), jnp.asarray(inputs), method="chunked", chunk=chunk)
    assert bad > 100 and (outputs[:100] == 0).all()
    assert bad - 1 <= int(first_bad_step(outputs)) <= bad  # a state is infinite a step before what is read of it
    sound = slice(100, bad - 1)
    assert (np.abs(outputs[sound] - true[sound]) <= 1e-5 * np.maximum.accumulate(np.abs(true[sound]))).all()


def test_poles_that_decay_never_come_here_and_a_batch_has_one_answer():
    made = poles(jnp.float32([-1e-5, 1.3]), jnp.zeros(2))
    assert not overflows(made, 64) and overflows(made, 70)
    assert not overflows(poles(jnp.float32([-jnp.inf, jnp.inf, jnp.nan]), jnp.zeros(3)), 64)
    inputs = jnp.ones((2, 5))

    def run(log_modulus):
        return filter_bank(poles(log_modulus, jnp.zeros(2)), jnp.ones(2), inputs, method="chunked")[0].sum()

    batch = jnp.float32([[-0.1, -0.2], [0.1, 0.0], [-3.0, 30.0]])
    assert "cond[" in str(jax.make_jaxpr(jax.vmap(jax.grad(run)))(batch))  # and no select, which would run both
    assert jax.vmap(lambda one: overflows(poles(one, jnp.zeros(2)), 64))(batch).tolist() == [True] * 3


@pytest.mark.matrix(2)
@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("length", [12, 1])
def test_step_by_step_is_the_same_bank(real, length):
    rng = np.random.default_rng(length)
    made = poles(jnp.float32([[-0.1, -0.5, 0.2]]), None if real else jnp.float32([[0.3, -2.0, 3.0]]))
    weights = (jnp.asarray(rng.normal(size=(1, 3)), jnp.float32), None if real else jnp.ones((1, 3)))
    inputs = jnp.asarray(rng.normal(size=(2, 1, length)), jnp.float32)
    state = jnp.asarray(rng.normal(size=(2, 1, 3 if real else 6)), jnp.float32)
    w = weights[0] if real else weights[0] + 1j * weights[1]
    start = state if real else jnp.split(state, 2, -1)[0] + 1j * jnp.split(state, 2, -1)[1]

    def steps(parts):
        outputs, last = by_steps((made, *parts), 5)
        return (outputs**2).sum() + last.sum(), (outputs, last)

    def scan(parts):
        outputs, last = filter_bank(made, w, parts[1], start, method="scan")
        last = last if real else jnp.concatenate([last.real, last.imag], -1)
        return (outputs**2).sum() + last.sum(), (outputs, last)

    parts = (weights, inputs, state)
    (_, got), slope = jax.jit(jax.value_and_grad(steps, has_aux=True))(parts)
    (_, wanted), wanted_slope = jax.jit(jax.value_and_grad(scan, has_aux=True))(parts)
    for one, two in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, two, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(slope[1], wanted_slope[1], rtol=1e-5, atol=1e-5)
