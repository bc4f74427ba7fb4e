"""Dense float64 references, and the precisions a law is checked in."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

# A law takes the dtype: float32 in the ordinary process, float64 in the one with 64-bit floats.
both_precisions = pytest.mark.parametrize(
    "dtype", [jnp.float32, pytest.param(jnp.float64, marks=pytest.mark.float64)], ids=["float32", "float64"]
)


_SCALE = 2**240
with mpmath.workprec(300):
    _PER_RADIAN = int(mpmath.floor(_SCALE / (2 * mpmath.pi)))


def angle(phase, steps):
    """phase * steps modulo 2 pi, in whole numbers: a float is an integer over a power of two."""
    turns = []
    for one in np.ravel(phase).tolist():
        numerator, denominator = one.as_integer_ratio()
        turn = numerator * _PER_RADIAN // denominator
        turns.append([((turn * int(k) + _SCALE // 2) % _SCALE - _SCALE // 2) / _SCALE for k in np.ravel(steps)])
    return 2 * np.pi * np.reshape(turns, np.shape(phase) + np.shape(steps))


def powers(log_modulus, phase, steps):
    """lambda^k in complex128."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(np.multiply.outer(log_modulus, np.asarray(steps, float))) * np.exp(1j * angle(phase, steps))


def kernel(log_modulus, phase, weights, length):
    """Re sum_n w_n lambda_n^k."""
    return (weights[..., None] * powers(log_modulus, phase, np.arange(length))).sum(-2).real


def convolve(inputs, kernel, ahead=None):
    """Return the direct sum, causal or with a kernel that looks ahead."""
    length = inputs.shape[-1]
    outputs = np.zeros((*np.broadcast_shapes(inputs.shape[:-1], kernel.shape[:-1]), length))
    for lag in range(min(length, kernel.shape[-1])):
        outputs[..., lag:] += kernel[..., lag, None] * inputs[..., : length - lag]
    for lag in range(0 if ahead is None else min(length - 1, ahead.shape[-1])):
        outputs[..., : length - 1 - lag] += ahead[..., lag, None] * inputs[..., lag + 1 :]
    return outputs


def worst(actual, expected):
    """Largest error over the largest value."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    return np.abs(actual - expected).max(initial=0) / max(np.abs(expected).max(initial=0), 1e-300)
