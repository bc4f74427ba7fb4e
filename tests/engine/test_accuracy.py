"""The error beside the speed: estimates are measured, small where the engine is exact, and gate the goals."""

import jax.numpy as jnp
import pytest

from stablessm import engine


@pytest.mark.parametrize(
    ("operation", "length", "limit"),
    [("powers", 5000, 5e-7), ("kernel", 65536, 1e-6), ("convolve", 65536, 1e-6), ("convolution", 65536, 1e-6),
     ("chunked", 65536, 1e-6), ("recur", 2000, 1e-4), ("recur_varying", 2000, 1e-4)],  # these round at every step
)  # fmt: skip
def test_float32_errors(operation, length, limit):
    assert 0 < engine.error_estimate(operation, states=8, length=length, dtype=jnp.float32) < limit


@pytest.mark.float64
@pytest.mark.parametrize(
    "operation", ["powers", "kernel", "convolve", "convolution", "chunked", "recur", "scan", "recur_varying"]
)
def test_float64_errors(operation):
    assert engine.error_estimate(operation, states=4, length=2000, dtype=jnp.float64) < 1e-12


def test_bad_arguments_get_a_sentence():
    with pytest.raises(ValueError, match="must be one of powers, kernel"):
        engine.error_estimate("magic", states=1, length=1)
    with pytest.raises(ValueError, match="at least 1"):
        engine.error_estimate("powers", states=0, length=1)
