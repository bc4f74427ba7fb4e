"""Three forms of one loss: the mean squared error of a linear model against a linear target.

With x white or given, model kernel K, target kernel rho, d = K - rho and a horizon of T steps, the error signal is
e_t = sum_{k <= t} d_k x_{t-k}, and

    sampled      (1 / (B T)) sum_b sum_t e_bt^2                               for the batch at hand
    gram         d' S d,  S_ij = (1 / T) sum_t G_{t-i, t-j},  G = x' x / B    the same number, the batch seen only once
    white_noise  sigma^2 sum_k (1 - k / T) d_k^2                              its expectation, no data at all

The sampled and the Gram form agree to rounding; S depends on the batch alone, so every model of a sweep shares it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float


def time_weights(length: int, dtype: jnp.dtype = jnp.float32) -> Float[Array, " time"]:
    """Return the published weights ((t + 1) / (T + 1))^2, normalised to mean 1, shape (length,)."""
    weights = ((jnp.arange(length, dtype=dtype) + 1) / (length + 1)) ** 2
    return weights / weights.mean()


def sampled(
    kernel: Float[Array, " time"],
    target: Float[Array, " time"],
    inputs: Float[Array, "batch time"],
    *,
    weights: Float[Array, " time"] | None = None,
) -> Float[Array, ""]:
    """Return the mean squared error over a batch of inputs.

    Args:
        kernel: model kernel K_k.
        target: target kernel rho_k.
        inputs: x, zero before the first step.
        weights: weight of each time step in the mean over time; all 1 by default.
    """
    length = inputs.shape[-1]
    transformed = jnp.fft.rfft(inputs, 2 * length) * jnp.fft.rfft(kernel - target, 2 * length)
    error = jnp.fft.irfft(transformed, 2 * length)[..., :length]
    square = error**2 if weights is None else weights * error**2
    return square.mean()


def gram_matrix(
    inputs: Float[Array, "batch time"], *, weights: Float[Array, " time"] | None = None
) -> Float[Array, "time time"]:
    """Return S, the matrix of the quadratic form that the sampled loss is.

    S_ij = (1/T) sum_m w_{m + max(i, j)} G_{m, m + |i - j|}: for each lag |i - j| a product of the lagged Gram matrix
    with the Hankel matrix of the weights, so that the whole is one matrix product.

    Args:
        inputs: x.
        weights: as in `sampled`.
    """
    batch, length = inputs.shape
    gram = inputs.T @ inputs / batch
    steps = jnp.arange(length)
    ahead = steps[:, None] + steps[None, :]  # lag (or j) plus m
    inside = ahead < length
    lagged = jnp.where(inside, gram[steps[None, :], jnp.where(inside, ahead, 0)], 0)
    flat = jnp.ones(length, inputs.dtype) if weights is None else weights
    hankel = jnp.where(inside, flat[jnp.where(inside, ahead, 0)], 0)
    sums = lagged @ hankel  # sums[lag, j]
    return sums[jnp.abs(steps[:, None] - steps[None, :]), jnp.maximum(steps[:, None], steps[None, :])] / length


def gram(
    kernel: Float[Array, " time"], target: Float[Array, " time"], matrix: Float[Array, "time time"]
) -> Float[Array, ""]:
    """Return the sampled loss of a batch from its matrix S (`gram_matrix`)."""
    difference = kernel - target
    return difference @ (matrix @ difference)


def white_noise(
    kernel: Float[Array, " time"],
    target: Float[Array, " time"],
    *,
    variance: float = 1.0,
    weights: Float[Array, " time"] | None = None,
) -> Float[Array, ""]:
    """Return the expected sampled loss under white input of the given variance.

    Args:
        kernel: model kernel K_k.
        target: target kernel rho_k.
        variance: variance of the input.
        weights: as in `sampled`.
    """
    length = kernel.shape[-1]
    if weights is None:
        weights = jnp.ones(length, kernel.dtype)
    remaining = jnp.cumsum(weights[::-1])[::-1] / length
    return variance * (remaining * (kernel - target) ** 2).sum()


def absolute(kernel: Float[Array, " time"], target: Float[Array, " time"]) -> Float[Array, ""]:
    """Return sum_k |K_k - rho_k|, the largest error over all inputs with |x| <= 1: the loss of Theorem 3.4.

    Under zero-order hold the kernel of a continuous-time mode sums up to its integral exactly, at any step size.

    Args:
        kernel: model kernel K_k.
        target: target kernel rho_k; of a continuous-time target its integral over each step.
    """
    return jnp.abs(kernel - target).sum()


class SampledForm(NamedTuple):
    """The sampled loss of models with an offset z_t in their outputs (`zero_input_response`), as a quadratic form.

    (1 / (B T)) sum_bt w_t (e_bt + z_t)^2 = d' S d + 2 d' C z + (1 / T) sum_t w_t z_t^2.

    Attributes:
        matrix: S (`gram_matrix`).
        cross: C_kt = w_t m_{t-k} / T with m the mean input over the batch.
        weights: w_t / T.
    """

    matrix: Array
    cross: Array
    weights: Array


def sampled_form(inputs: Float[Array, "batch time"], *, weights: Float[Array, " time"] | None = None) -> SampledForm:
    """Return the sampled loss of a batch as a form, the batch seen only once.

    Args:
        inputs: x.
        weights: as in `sampled`.
    """
    length = inputs.shape[-1]
    shares = (jnp.ones(length, inputs.dtype) if weights is None else weights) / length
    lag = jnp.arange(length)[None, :] - jnp.arange(length)[:, None]
    mean = inputs.mean(axis=0)
    cross = jnp.where(lag >= 0, shares * mean[jnp.abs(lag)], 0)
    return SampledForm(gram_matrix(inputs, weights=weights), cross, shares)


def of_form(form: SampledForm, difference: Float[Array, " time"], offset: Float[Array, " time"]) -> Float[Array, ""]:
    """Return the sampled loss from its form; what rounding leaves below 0 is 0.

    Args:
        form: of the batch.
        difference: d = K - rho.
        offset: z.
    """
    value = difference @ (form.matrix @ difference) + 2 * difference @ (form.cross @ offset)
    return jnp.maximum(value + (form.weights * offset**2).sum(), 0)
