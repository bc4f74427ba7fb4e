"""DLR: starts on the grid of a Fourier transform, casts and products of kernels, closed gradients, one-hot kernels."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import REFERENCES

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LAYERS
from stablessm.layers.bidirectional import Bidirectional
from stablessm.layers.dlr import CASTS, DLR, Factor, Grid
from stablessm.layers.dlr_starts import dlr, fourier, kronecker, of_bank, one_hot, with_kernels

SQUARE = PARAMETERIZATIONS["square"]
KEY = jax.random.key(0)


@eqx.filter_jit
def kernels(layer, length):
    return layer.channel_kernels(length)


@eqx.filter_jit
def complex_kernel(layer, length):
    return jax.lax.complex(*layer.factors[0].kernel(length))


def complex_readout(layer):
    pair = np.asarray(layer.factors[0].readout, float)
    return pair[..., 0] + 1j * pair[..., 1]


def series(length, channels, seed=1):
    return jax.random.normal(jax.random.key(seed), (length, channels))


@eqx.filter_jit
def full(layer, x, state=None):
    return layer(x, state)


@eqx.filter_jit
def full_and_stepped(layer, x):
    return layer(x), jax.lax.scan(lambda state, one: layer.step(state, one), layer.initial_state(), x)


def test_on_the_grid_the_complex_kernel_is_the_inverse_transform_with_condition_one():
    layer = fourier(SQUARE, 16, inputs=3, damping=0.0, key=KEY)
    np.testing.assert_allclose(complex_kernel(layer, 16), 16 * np.fft.ifft(complex_readout(layer)), atol=3e-7)
    table = np.exp(2j * np.pi * np.outer(np.arange(16), np.arange(16)) / 16)
    assert np.linalg.cond(table) == pytest.approx(1)


@pytest.mark.parametrize(("grid", "dimensions"), [(Grid(8), 8), (Grid(16, 0.5), 16)])
def test_the_real_part_spans_as_many_dimensions_as_the_grid_gives(grid, dimensions):
    layer = fourier(SQUARE, 8, inputs=16, damping=0.0, grid=grid, key=KEY)
    every = jnp.concatenate(
        [jnp.eye(8)[..., None] * jnp.array([1.0, 0.0]), jnp.eye(8)[..., None] * jnp.array([0, 1.0])]
    )
    layer = eqx.tree_at(lambda one: one.factors[0].readout, layer, every)
    assert np.linalg.matrix_rank(np.asarray(complex_kernel(layer, 32)).real, tol=1e-4) == dimensions


def test_chosen_kernels_solve_shift_exactly():
    length, shifts = 64, 8
    wanted = np.zeros((shifts, length))
    wanted[np.arange(shifts), np.arange(shifts) * length // shifts] = 1
    layer = with_kernels(fourier(SQUARE, length, inputs=shifts, damping=1e-3, key=KEY), wanted)
    x = series(length, 1)
    y = full(layer, jnp.broadcast_to(x, (length, shifts)))[0]
    exact = np.stack(
        [np.concatenate([np.zeros(lag), np.asarray(x)[: length - lag, 0]]) for lag in wanted.argmax(-1)], -1
    )
    np.testing.assert_allclose(y, exact, atol=2e-6)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("cast", CASTS[::-1])
def test_every_cast_steps_as_it_runs_and_is_what_its_definition_says(cast):
    layer = fourier(SQUARE, 6, inputs=2, cast=cast, damping=0.1, grid=Grid(9, 0.3), key=KEY)
    x = series(21, 2)
    (y, state), (last, stepped) = full_and_stepped(layer, x)
    exact = REFERENCES["dlr"](layer, np.asarray(x, float))
    np.testing.assert_allclose(y, exact, atol=2e-6)
    np.testing.assert_allclose(stepped, exact, atol=2e-6)
    np.testing.assert_allclose(state, last, atol=1e-5)
    assert state.shape == (2, 21 if cast == "product" else 6)


def test_a_product_of_kernels_is_the_layer_of_all_products_of_poles():
    one, two = (fourier(SQUARE, n, inputs=2, damping=d, key=jax.random.key(n)) for n, d in ((3, 0.1), (4, 0.3)))
    both = kronecker(one, two)
    first, second = (np.asarray(complex_kernel(layer, 20)) for layer in (one, two))
    D = np.asarray(both.feedthrough)[:, None] * (np.arange(20) == 0)
    np.testing.assert_allclose(kernels(both, 20), (first * second).real + D, atol=1e-6)
    assert both.eigenvalues().shape == (12,)
    x = series(20, 2)
    (y, state), (last, stepped) = full_and_stepped(both, x)
    np.testing.assert_allclose(stepped, y, atol=2e-6)
    np.testing.assert_allclose(state, last, atol=1e-5)
    halves = full(both, x[:9])
    np.testing.assert_allclose(full(both, x[9:], halves[1])[0], y[9:], atol=2e-6)


def test_products_of_three_and_of_real_poles():
    real = dlr(SQUARE, jnp.array([0.5, 0.9]), inputs=2, key=KEY)
    turning = fourier(SQUARE, 3, inputs=2, damping=0.2, key=KEY)
    found = kronecker(kronecker(real, turning), real)
    parts = [np.asarray(kernels(eqx.tree_at(lambda one: one.feedthrough, layer, jnp.zeros(2)), 9))
             for layer in (real, turning)]  # fmt: skip
    D = np.asarray(found.feedthrough)[:, None] * (np.arange(9) == 0)
    np.testing.assert_allclose(kernels(found, 9), parts[0] ** 2 * parts[1] + D, atol=1e-6)
    assert found.eigenvalues().shape == (12,)


@pytest.mark.parametrize("kind", ["dss", "s4d"])
def test_a_bank_of_every_channel_is_a_dlr_of_all_poles(kind):
    poles = jnp.array([-0.5 + 3j, -0.1 + 7j, -0.3])
    options = {"variant": "exp"} if kind == "dss" else {}
    bank = LAYERS[kind].build(PARAMETERIZATIONS["exp"], poles, inputs=3, key=KEY, **options)
    same = of_bank(bank, SQUARE)
    assert same.eigenvalues().shape == (9,)
    one, two = np.asarray(kernels(bank, 64)), np.asarray(kernels(same, 64))
    np.testing.assert_allclose(two, one, atol=64 * 2.0**-23 * np.abs(one).max())


def test_a_turn_more_changes_nothing():
    """theta + 2 pi m: kernel and gradients are the same, to the rounding of the larger theta."""
    layer = dlr(SQUARE, 0.9 * jnp.exp(1j * jnp.array([0.25, 0.5])), inputs=1, key=KEY)
    turned = eqx.tree_at(lambda one: one.factors[0].phase, layer, layer.factors[0].phase + 2 * np.pi)

    def loss(layer):
        return (layer.channel_kernels(30) ** 3).sum()

    for one, two in zip(
        *(jax.tree.leaves(eqx.filter_jit(eqx.filter_grad(loss))(each)) for each in (layer, turned)), strict=True
    ):
        np.testing.assert_allclose(one, two, atol=2e-5 * np.abs(two).max())


def test_gradients_are_the_closed_forms():
    layer = dlr(SQUARE, 0.8 * jnp.exp(1j * jnp.array([0.4, 2.0])), inputs=1, key=KEY)
    k, lam, w = 7, np.asarray(layer.eigenvalues(), complex), complex_readout(layer)[0]
    found = eqx.filter_jit(eqx.filter_grad(lambda one: one.channel_kernels(k + 1)[0, k]))(layer).factors[0]
    along = k * w * lam ** (k - 1)  # dK_k / d lambda
    np.testing.assert_allclose(found.phase, (along * 1j * lam).real, rtol=1e-5)
    raw = np.asarray(layer.factors[0].weight, float)  # |lambda| = exp(-w^2)
    np.testing.assert_allclose(found.weight, (along * lam).real * -2 * raw, rtol=1e-5)
    np.testing.assert_allclose(found.readout[0], np.stack([(lam**k).real, -(lam**k).imag], -1), rtol=1e-5)


@pytest.mark.matrix(2)
@pytest.mark.parametrize(("length", "place", "teeth"), [(2**14, 7_777, 128), (2**20, 777_777, 1024)])
def test_a_one_hot_kernel_at_a_million_steps(length, place, teeth):
    """1024 poles times 1024: in float32, where a phase of its own would be off by tenths of a radian."""
    kernel = np.array(kernels(one_hot(SQUARE, place, length, teeth), length)[0])
    kernel[place] -= 1
    assert np.abs(kernel).max() < 1e-5


@pytest.mark.matrix(2)
@pytest.mark.parametrize("length", [1, 2, 7, 8])
def test_both_directions_are_two_direct_convolutions(length):
    one, two = (fourier(SQUARE, 4, inputs=2, damping=0.2, key=jax.random.key(n)) for n in range(2))
    x, both = np.asarray(series(length, 2), float), Bidirectional(one, two)
    ahead, back = (np.asarray(kernels(layer, length), float).T for layer in (one, two))
    exact = [
        sum(ahead[j] * x[t - j] for j in range(t + 1)) + sum(back[j] * x[t + 1 + j] for j in range(length - t - 1))
        for t in range(length)
    ]
    np.testing.assert_allclose(full(both, jnp.asarray(x, jnp.float32))[0], exact, atol=2e-6)


def test_what_does_not_fit_is_refused():
    layer = fourier(SQUARE, 4, inputs=2, key=KEY)
    real = dlr(SQUARE, jnp.array([0.5]), inputs=2, key=KEY)
    for message, wrong in (
        ("`cast` must be one of", lambda: LAYERS["dlr"].build(SQUARE, jnp.array([0.5j]), inputs=2, cast="x", key=KEY)),
        ("read as they are", lambda: dlr(SQUARE, jnp.array([0.5]), inputs=2, cast="sum", key=KEY)),
        ("as many channels", lambda: kronecker(layer, fourier(SQUARE, 4, inputs=3, key=KEY))),
        ("both casts", lambda: kronecker(layer, fourier(SQUARE, 4, inputs=2, cast="product", key=KEY))),
        ("whole grid", lambda: with_kernels(real, np.zeros((2, 1)))),
        ("shape", lambda: with_kernels(layer, np.zeros((2, 3)))),
        ("must divide", lambda: one_hot(SQUARE, 0, 8, 3)),
        ("`position`", lambda: one_hot(SQUARE, 8, 8, 2)),
        ("must be real", lambda: dlr(SQUARE, jnp.array([0.5j]), inputs=1, grid=Grid(4), key=KEY)),
        ("as many channels", lambda: DLR((), jnp.zeros(2))),
        ("number of states", lambda: fourier(SQUARE, 0, inputs=1, key=KEY)),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    assert isinstance(layer.factors[0], Factor)
