"""Powers: right at any k, at zero and beyond one, and so are their derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import engine
from tests.engine import reference
from tests.engine.reference import both_precisions

STEPS = np.concatenate([np.arange(20), np.random.default_rng(1).integers(0, 10**6, 200), [4095, 4096, 10**6]])
ULPS = 4  # of the polynomial, the reduced phase and the product with the modulus together


def allowed(dtype):
    return ULPS * float(jnp.finfo(dtype).eps)


def test_the_millionth_power_of_a_float64_angle():
    power = complex(engine.powers(engine.poles(0.0, 1.234567), np.array(10**6)))
    assert abs(power - (-0.931222 + 0.364452j)) < 1e-6
    rounded = complex(engine.powers(engine.poles(0.0, jnp.float32(1.234567)), np.array(10**6)))
    exact = reference.powers(0.0, np.float64(np.float32(1.234567)), np.array(10**6))
    assert abs(rounded - exact) < 5e-7  # the rounded angle's own power,
    assert abs(rounded - (-0.931222 + 0.364452j)) > 1e-3  # which is another number: the documented limit


@both_precisions
@pytest.mark.parametrize("on_host", [True, False])
def test_powers_against_exact_phases(dtype, on_host):
    rng = np.random.default_rng(0)
    log_modulus = np.concatenate([np.zeros(20), -np.geomspace(1e-8, 60, 20)]).astype(dtype).astype(float)
    phase = np.concatenate([rng.uniform(-np.pi, np.pi, 30), rng.uniform(-400, 400, 6), [0, np.pi, -np.pi / 2, 1e-30]])
    if on_host:
        actual = engine.powers(engine.poles(log_modulus, phase), STEPS)
    else:
        phase = phase.astype(dtype).astype(float)
        traced = jax.jit(lambda a, t, k: engine.powers(engine.poles(a, t), k))
        actual = traced(jnp.asarray(log_modulus, dtype), jnp.asarray(phase, dtype), jnp.asarray(STEPS))
    assert actual.dtype == (jnp.complex64 if dtype == jnp.float32 else jnp.complex128)
    assert np.abs(actual - reference.powers(log_modulus, phase, STEPS)).max() < allowed(dtype)


@both_precisions
def test_derivatives_by_vmap_of_grad_forward_and_second(dtype):
    steps = np.arange(30)
    a, t = jnp.asarray([-0.1, -0.01], dtype), jnp.asarray([1.3, -2.9], dtype)
    power = lambda a, t: engine.powers(engine.poles(a, t), steps).real  # noqa: E731
    z = reference.powers(np.asarray(a, float), np.asarray(t, float), steps)
    tolerance = 40 * allowed(dtype)
    for jacobian in (jax.jacfwd, jax.jacrev):
        slopes = jax.jit(jax.vmap(jacobian(power, (0, 1))))(a, t)
        for actual, exact in zip(slopes, ((steps * z).real, -(steps * z).imag), strict=True):
            assert reference.worst(actual, exact) < tolerance
    curvature = jax.jit(jax.vmap(jax.jacfwd(jax.jacrev(power, 1), 1)))(a, t)
    assert reference.worst(curvature, -(steps**2 * z).real) < tolerance


def test_zero_negative_and_growing_poles():
    table = engine.powers(engine.poles(-np.inf, 1.0), np.arange(3))
    assert table.tolist() == [1, 0, 0]
    slope = jax.grad(lambda a: engine.powers(engine.poles(a, 1.0), np.arange(3)).real.sum())(-jnp.inf)
    assert slope == 0
    steps = np.arange(6)
    differentiate = jax.jit(lambda v: jax.jvp(lambda v: engine.powers(engine.signed_poles(v), steps), (v,), (1.0,)))
    for value in (0.0, -0.5, 0.75, 1.0, -1.0):
        table, slope = differentiate(value)
        np.testing.assert_allclose(table, value**steps, rtol=1e-6)
        np.testing.assert_allclose(slope, steps * value ** np.maximum(steps - 1, 0), rtol=1e-6)
    turned = engine.powers(engine.signed_poles(-0.5, phase=np.pi / 2), np.arange(4))
    np.testing.assert_allclose(turned, (-0.5j) ** np.arange(4), atol=1e-7)
    growing = engine.powers(engine.poles(np.ones(2), np.array([np.pi / 2, 1.0])), np.arange(120))
    assert not np.isnan(growing).any()
    assert engine.first_bad_step(growing).tolist() == [89, 89] and np.exp(89) > np.finfo(np.float32).max
    assert engine.first_bad_step(growing[:, :89]).tolist() == [-1, -1]


def test_shapes_and_a_negative_exponent():
    poles = engine.poles(jnp.zeros((2, 3)), jnp.ones(3))
    assert engine.powers(poles, np.zeros((4, 5), int)).shape == (2, 3, 4, 5)
    assert engine.powers(poles, np.zeros(0, int)).shape == (2, 3, 0)
    with pytest.raises(ValueError, match="must not be negative, but got -1"):
        engine.powers(poles, np.array([-1]))
