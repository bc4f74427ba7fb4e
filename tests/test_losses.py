"""Three forms of one loss, and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import losses
from stablessm.targets import TARGETS

KEY = jax.random.key(0)


@pytest.mark.matrix(3)
@pytest.mark.parametrize("length", [2, 7, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_gram_form_is_the_sampled_loss_and_its_gradient(length, weighted):
    weights = losses.time_weights(length) if weighted else None
    x, kernel, target = (jax.random.normal(k, s) for k, s in zip(
        jax.random.split(KEY, 3), ((5, length), (length,), (length,)), strict=True))  # fmt: skip
    matrix = losses.gram_matrix(x, weights=weights)
    dense = [
        np.convolve(row, kernel - target)[:length] ** 2 * (1 if weights is None else weights) for row in np.asarray(x)
    ]
    one = jax.value_and_grad(losses.sampled)(kernel, target, x, weights=weights)
    two = jax.value_and_grad(losses.gram)(kernel, target, matrix)
    np.testing.assert_allclose(one[0], np.mean(dense), rtol=2e-5)
    np.testing.assert_allclose(two[0], one[0], rtol=2e-5)
    np.testing.assert_allclose(two[1], one[1], rtol=1e-3, atol=1e-4 * np.abs(one[1]).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_white_noise_is_the_expectation_of_the_sampled_loss(weighted):
    length = 20
    weights = losses.time_weights(length) if weighted else None
    kernel, target = jax.random.normal(KEY, (length,)), jnp.asarray(TARGETS["polynomial"].kernel(length), jnp.float32)
    expected = losses.white_noise(kernel, target, weights=weights)
    samples = [
        losses.sampled(kernel, target, jax.random.normal(k, (2000, length)), weights=weights)
        for k in jax.random.split(KEY, 30)
    ]
    error = np.std(samples, ddof=1) / len(samples) ** 0.5
    assert abs(np.mean(samples) - expected) < 4 * error


def test_white_noise_closed_form_for_two_exponentials():
    q, c, lam, length = 0.8, 0.7, 0.6, 400
    k = np.arange(length)
    exact = sum((1 - k / length) * (q**k - c * lam**k) ** 2)
    value = losses.white_noise(jnp.asarray(c * lam**k, jnp.float32), jnp.asarray(q**k, jnp.float32))
    np.testing.assert_allclose(value, exact, rtol=1e-5)


def test_targets_are_their_formulas():
    assert TARGETS["exponential"].kernel(3) == pytest.approx(np.exp([0.0, -1.0, -2.0]))
    assert TARGETS["slow_polynomial"].kernel(11)[10] == pytest.approx(2**-1.1)
    assert TARGETS["shift"].kernel(20).sum() == 1
    assert TARGETS["airy"].kernel(8)[6] == pytest.approx(0.355028053887817)
    with pytest.raises(ValueError, match="at least one sample"):
        TARGETS["sine"].kernel(0)
