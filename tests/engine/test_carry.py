"""lambda^T in two words: right far below the last bit of a float32, with the derivative of the power."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from stablessm import engine
from stablessm.engine.carry import carry_words
from stablessm.engine.powers import power_parts

PHASES = np.concatenate([[0, np.pi, -np.pi / 2, 1e-30], np.random.default_rng(0).uniform(-np.pi, np.pi, 60)])


def words(poles, exponent):
    parts = jax.jit(lambda p: carry_words(p, exponent, power_parts(p, np.array(exponent))))(poles)
    return [np.asarray(x, float) if y is None else np.stack([x, y]).astype(float) for x, y in parts]


@pytest.mark.parametrize("exponent", [1, 64, 100, 4095])
def test_two_words_are_right_where_one_is_not(exponent):
    log = np.float32(-np.geomspace(1e-8, 0.4, 64) / exponent)
    phase = np.float32(PHASES)
    half, rest = words(engine.poles(jnp.asarray(log), jnp.asarray(phase)), exponent)
    with mpmath.workprec(100):
        exact = [mpmath.exp(exponent * mpmath.mpc(float(a), float(t))) for a, t in zip(log, phase, strict=True)]
        missing = [abs(complex(e - mpmath.mpc(*h) - mpmath.mpc(*r)))
                   for e, h, r in zip(exact, half.T.tolist(), rest.T.tolist(), strict=True)]  # fmt: skip
    assert max(missing) < 3e-8  # a twelfth of it is usual; one word is off by up to 1.2e-7
    assert np.sqrt(np.mean(np.square(missing))) < 8e-9
    kept = half.astype(np.float32).view(np.int32) & 0xFFF
    assert (kept == 0).all()  # half a float, so that the rest is not rounded away against it


def test_real_signed_fast_and_growing_poles():
    log, value = np.float32([-1e-3, -3.0, -np.inf, 0.01]), np.float32([-0.96875, 0.984375, 0.0])
    for poles, exact in (
        (engine.poles(log), np.exp(7 * log.astype(float))),
        (engine.signed_poles(jnp.asarray(value)), value.astype(float) ** 7),
    ):
        half, rest = words(poles, 7)
        assert np.abs(half + rest - exact).max() < 3e-8
    half, rest = words(engine.poles(np.array([50.0]), np.array([1.0])), 64)
    assert np.isinf(half).all() and (rest == 0).all()  # never NaN


def test_the_derivative_is_that_of_the_power():
    def total(a, t, two):
        poles = engine.poles(a, t)
        power = power_parts(poles, np.array(64))
        (x, y), (p, q) = carry_words(poles, 64, power) if two else (power, (0, 0))
        return (x + p + 2 * (y + q)).sum()

    arrays = jnp.float32([-0.001, -2.0]), jnp.float32([1.0, 2.0])
    slopes = [jax.jit(jax.grad(lambda a, t, two=two: total(a, t, two), (0, 1)))(*arrays) for two in (True, False)]
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
