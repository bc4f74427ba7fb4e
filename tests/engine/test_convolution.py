"""Convolution: the direct sum, causal and both ways, with its transpose as derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import engine
from stablessm.engine.convolution import smooth_length
from tests.engine import reference
from tests.engine.reference import both_precisions


@both_precisions
@pytest.mark.parametrize(
    ("length", "lags", "ahead"), [(1, 1, None), (1, 3, 2), (2, 2, 2), (16, 40, 5), (17, 5, 40), (61, 61, None)]
)
def test_against_the_direct_sum(dtype, length, lags, ahead):
    rng = np.random.default_rng(length)
    inputs, kernel = rng.normal(size=(2, 3, length)), rng.normal(size=(3, lags))
    reverse = None if ahead is None else rng.normal(size=(1, ahead))
    exact = reference.convolve(inputs, kernel, reverse)
    cast = [None if one is None else jnp.asarray(one, dtype) for one in (inputs, kernel, reverse)]
    actual = jax.jit(lambda u, k, r: engine.convolve(u, k, reverse_kernel=r))(*cast)
    assert actual.dtype == dtype
    assert reference.worst(actual, exact) < 10 * float(jnp.finfo(dtype).eps)


@pytest.mark.parametrize("both_ways", [False, True])
def test_gradients_are_those_of_the_direct_sum(both_ways):
    rng = np.random.default_rng(0)
    inputs, kernel, ahead, pull = (jnp.asarray(rng.normal(size=shape), jnp.float32)
                                   for shape in ((2, 3, 11), (3, 7), (1, 5), (2, 3, 11)))  # fmt: skip
    matrix = lambda k, r: sum(  # noqa: E731
        [k[..., j, None, None] * jnp.eye(11, k=-j) for j in range(k.shape[-1])]
        + [r[..., j, None, None] * jnp.eye(11, k=1 + j) for j in range(r.shape[-1]) if both_ways]
    )
    direct = lambda u, k, r: (pull * jnp.einsum("...ij,...j->...i", matrix(k, r), u)).sum()  # noqa: E731
    fast = lambda u, k, r: (pull * engine.convolve(u, k, reverse_kernel=r if both_ways else None)).sum()  # noqa: E731
    for one, other in zip(*(jax.jit(jax.grad(f, (0, 1, 2)))(inputs, kernel, ahead) for f in (fast, direct)),
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_empty_series_and_batches():
    assert engine.convolve(jnp.zeros((2, 0)), jnp.ones(3)).shape == (2, 0)
    assert engine.convolve(jnp.zeros((0, 4, 7)), jnp.ones((4, 7))).shape == (0, 4, 7)
    assert engine.convolve(jnp.ones(3), jnp.zeros((5, 0))).tolist() == np.zeros((5, 3)).tolist()


def test_smooth_length_is_the_smallest():
    def smooth(n):
        for prime in (2, 3, 5):
            while n % prime == 0:
                n //= prime
        return n == 1

    for least in range(1, 400):
        assert smooth_length(least) == next(n for n in range(least, 2 * least + 1) if smooth(n))
    assert smooth_length(2**21 - 1) == 2**21


@pytest.mark.parametrize("size", [8, 9])
def test_a_kernel_that_series_share_has_first_and_second_derivatives_of_the_direct_sum(size):
    rng = np.random.default_rng(size)
    inputs, kernel = (jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in ((3, 2, size // 2), (2, 5)))
    lags = np.subtract.outer(np.arange(size // 2), np.arange(size // 2))

    def direct(u, k):
        return (jnp.where((lags >= 0) & (lags < 5), k[:, np.clip(lags, 0, 4)], 0) @ u[..., None])[..., 0]

    def slope(convolve, u, k):
        loss = lambda u, k: (jax.vmap(convolve, (0, None))(u, k) ** 3).sum()  # noqa: E731
        return jax.grad(loss, 1)(u, k)

    found = []
    for convolve in (engine.convolve, direct):
        second = lambda u, k, f=convolve: (slope(f, u, k) ** 2).sum()  # noqa: E731
        found.append((slope(convolve, inputs, kernel), *jax.grad(second, (0, 1))(inputs, kernel)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)
