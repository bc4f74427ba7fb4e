"""Convolution of series with kernels by FFT, causal or looking both ways.

The transform is taken at the next length without prime factors above 5, where FFTs are fast. The backward pass is
written out: it correlates with the spectra that the forward pass has, three more real transforms; the derivative that
JAX would derive goes through complex transforms of twice the size. On CPUs a large bank is transformed a few channels
at a time (`groups.py`): 1.2 to 1.3 times faster, in a tenth of the memory.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from stablessm.engine.groups import in_groups, largest_group


def convolve(
    inputs: Float[Array, "*series time"],
    kernel: Float[Array, "*channels lags"],
    *,
    reverse_kernel: Float[Array, "*channels lags"] | None = None,
) -> Float[Array, "*series time"]:
    """Return y_k = sum_{j <= k} K_j u_{k - j} (+ sum_{j >= 0} K'_j u_{k + 1 + j}), of the length of the inputs.

    Args:
        inputs: u, real, time along the last axis; nothing comes before or after it. May be empty.
        kernel: K, lags along the last axis, more or fewer of them than time; leading axes broadcast.
        reverse_kernel: K', how later inputs act; none by default (causal).

    Example:
        >>> convolve(jnp.array([1.0, 0.0, 0.0]), jnp.array([3.0, 2.0, 1.0])).round(5).tolist()
        [3.0, 2.0, 1.0]
    """
    length = inputs.shape[-1]
    if length == 0 or inputs.size == 0 or kernel.size == 0:
        other = kernel.shape if reverse_kernel is None else jnp.broadcast_shapes(kernel.shape, reverse_kernel.shape)
        return jnp.zeros((*jnp.broadcast_shapes(inputs.shape[:-1], other[:-1]), length), inputs.dtype)
    kernel = kernel[..., :length]
    if reverse_kernel is None or length == 1:
        return _circular(inputs, kernel, smooth_length(length + kernel.shape[-1] - 1))
    ahead = reverse_kernel[..., : length - 1]
    # One circular kernel with lag -(1 + j) at its end; no lag between two steps of the series meets an alias.
    size = smooth_length(length + max(kernel.shape[-1] - 1, ahead.shape[-1]))
    leading = jnp.broadcast_shapes(kernel.shape[:-1], ahead.shape[:-1])
    gap = jnp.zeros((*leading, size - kernel.shape[-1] - ahead.shape[-1]), inputs.dtype)
    parts = [jnp.broadcast_to(one, (*leading, one.shape[-1])) for one in (kernel, ahead[..., ::-1])]
    return _circular(inputs, jnp.concatenate([parts[0], gap, parts[1]], axis=-1), size)


def short_convolve(
    inputs: Float[Array, "*batch time features"],
    taps: Float[Array, "features lags"],
    before: Float[Array, "*batch earlier features"] | None = None,
) -> Float[Array, "*batch time features"]:
    """Return y_k = sum_j K_j u_{k-j} of each feature with its own few lags, added up lag by lag, time where it stands.

    Three lags of 192 features (8 series of 1024 steps): a third of the time of the same sums with time in front of the
    features and back, forward and with the gradient, and that is 2 to 5 times faster than transforms.

    Args:
        inputs: u, time along the last axis but one; may be empty.
        taps: K, at least one lag.
        before: the lags - 1 inputs before the first one, the latest one last; zero by default.

    Example:
        >>> short_convolve(jnp.array([[1.0], [0.0], [2.0]]), jnp.array([[3.0, 1.0]]))[:, 0].tolist()
        [3.0, 1.0, 6.0]
    """
    length, lags = inputs.shape[-2], taps.shape[-1]
    if before is None:
        before = jnp.zeros((*inputs.shape[:-2], lags - 1, inputs.shape[-1]), inputs.dtype)
    seen = jnp.concatenate([before, inputs], axis=-2)
    return sum(taps[:, lag] * seen[..., lags - 1 - lag : lags - 1 - lag + length, :] for lag in range(lags))


def smooth_length(least: int) -> int:
    """Return the smallest number without prime factors above 5 that is at least `least`.

    Example:
        >>> smooth_length(2 * 784 - 1)
        1600
    """
    best = 1 << max(least - 1, 0).bit_length()
    fives = 1
    while fives < best:
        threes = fives
        while threes < best:
            best = min(best, threes << max(0, (-(-least // threes) - 1).bit_length()))
            threes *= 3
        fives *= 5
    return best


_CACHE = 2**22  # bytes of spectra at a time, on CPUs


def _circular(inputs: Array, kernel: Array, size: int) -> Array:
    lags = kernel.shape[-1]
    if kernel.ndim == 2 and inputs.ndim > 1 and inputs.shape[-2] == kernel.shape[0] and jax.default_backend() == "cpu":
        series = inputs.reshape(-1, *inputs.shape[-2:])
        group = largest_group(kernel.shape[0], series.shape[0] * size * series.dtype.itemsize, _CACHE)
        if group < kernel.shape[0]:
            outputs, _ = in_groups(partial(_of_channel, size, lags), group, kernel, series)
            return outputs.reshape(inputs.shape)
    return _transformed(inputs, kernel, size, lags)


def _of_channel(size: int, lags: int, kernel: Array, inputs: Array) -> tuple[Array, tuple[()]]:
    return _transformed(inputs, kernel, size, lags), ()


def _transformed(inputs: Array, kernel: Array, size: int, lags: int) -> Array:
    return _filtered(inputs, _response(kernel, size, lags), size)


@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _response(kernel: Array, size: int, lags: int) -> Array:
    """The spectrum of a kernel. Series that share it add up what they send back before it is transformed."""
    return jnp.fft.rfft(kernel, size)


def _response_forward(kernel: Array, size: int, lags: int) -> tuple[Array, None]:
    return _response(kernel, size, lags), None


def _response_backward(size: int, lags: int, _: None, cotangent: Array) -> tuple[Array]:
    return (jnp.fft.irfft(cotangent.conj() / _shares(size, cotangent.real.dtype), size)[..., :lags],)


_response.defvjp(_response_forward, _response_backward)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _filtered(inputs: Array, response: Array, size: int) -> Array:
    return _forward(inputs, response, size)[0]


def _forward(inputs: Array, response: Array, size: int) -> tuple[Array, tuple[Array, Array]]:
    spectrum = jnp.fft.rfft(inputs, size)
    return jnp.fft.irfft(spectrum * response, size)[..., : inputs.shape[-1]], (spectrum, response)


def _backward(size: int, residuals: tuple[Array, Array], cotangent: Array) -> tuple[Array, Array]:
    spectrum, response = residuals
    turned = jnp.fft.rfft(cotangent, size)
    to_inputs = jnp.fft.irfft(_summed_to(turned * response.conj(), spectrum.shape), size)
    to_response = _summed_to(turned.conj() * spectrum, response.shape) * _shares(size, cotangent.dtype)
    return to_inputs[..., : cotangent.shape[-1]], to_response


_filtered.defvjp(_forward, _backward)


def _shares(size: int, dtype: jnp.dtype) -> Array:
    """How much each value of a real spectrum counts in the series: 2/size where its conjugate is left out, 1/size else.

    With them the cotangent of a spectrum is the one that JAX means by it, so that second derivatives are right.
    """
    frequency = jnp.arange(size // 2 + 1)
    return jnp.where((frequency == 0) | (2 * frequency == size), 1, 2).astype(dtype) / size


def _summed_to(array: Array, shape: tuple[int, ...]) -> Array:
    """Add up the axes along which an operand of a shape was broadcast."""
    extra = array.ndim - len(shape)
    array = array.sum(tuple(range(extra))) if extra else array
    spread = tuple(axis for axis, size in enumerate(shape) if size == 1 != array.shape[axis])
    return array.sum(spread, keepdims=True) if spread else array
