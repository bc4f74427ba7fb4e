"""Kernels of diagonal recurrences: every method gives the float64 sum, at every size."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import engine
from tests.engine import reference
from tests.engine.reference import both_precisions

LENGTHS = (0, 1, 2, 17, 1000)


def problem(channels, states, seed=0):
    rng = np.random.default_rng(seed)
    log_modulus = -np.geomspace(1e-4, 50, states * channels).reshape(channels, states)  # exp(-50) per step is nothing
    phase = rng.uniform(-np.pi, np.pi, (channels, states))
    weights = rng.normal(size=(channels, states)) + 1j * rng.normal(size=(channels, states))
    return log_modulus, phase, weights


def rounded(dtype, *arrays):
    kind = {False: dtype, True: jnp.result_type(dtype, jnp.complex64)}
    return [np.asarray(jnp.asarray(one, kind[np.iscomplexobj(one)])) for one in arrays]


@both_precisions
@pytest.mark.parametrize("method", ["two_level", "direct", "streamed"])
@pytest.mark.parametrize("shared", [True, False])
def test_kernel_against_float64(dtype, method, shared):
    log_modulus, phase, weights = rounded(dtype, *problem(3, 7))
    if shared:
        log_modulus, phase = log_modulus[0], phase[0]
    make = jax.jit(lambda p, w: engine.kernel(p, w, 1009, method=method))
    actual = make(engine.poles(log_modulus, phase), jnp.asarray(weights))
    wide = (np.asarray(one, np.promote_types(one.dtype, float)) for one in (log_modulus, phase, weights))
    assert actual.dtype == dtype
    assert reference.worst(actual, reference.kernel(*wide, 1009)) < 8 * float(jnp.finfo(dtype).eps)


@pytest.mark.parametrize("length", LENGTHS)
def test_length_does_not_change_the_beginning(length):
    log_modulus, phase, weights = problem(2, 3)
    poles, weights = engine.poles(log_modulus, phase), jnp.asarray(weights, jnp.complex64)
    kernel = engine.kernel(poles, weights, length)
    assert kernel.shape == (2, length)
    assert reference.worst(kernel, reference.kernel(log_modulus, phase, np.asarray(weights, complex), length)) < 1e-6


@pytest.mark.matrix(2)
@pytest.mark.parametrize("options", [{"method": "two_level"}, {"method": "streamed"}, {"rematerialise": True}], ids=str)
@pytest.mark.parametrize("shared", [True, False])
def test_gradients_against_float64(options, shared):
    length = 100
    log_modulus, phase, weights = rounded(jnp.float32, *problem(2, 5))
    if shared:
        log_modulus, phase = log_modulus[0], phase[0]

    def loss(a, t, wr, wi):
        return (engine.kernel(engine.poles(a, t), jax.lax.complex(wr, wi), length, **options) ** 2).sum()

    slopes = jax.jit(jax.grad(loss, (0, 1, 2, 3)))(log_modulus, phase, weights.real, weights.imag)
    steps = np.arange(length)
    table = reference.powers(log_modulus.astype(float), phase.astype(float), steps)  # (..., N, L)
    kernel = (weights.astype(complex)[..., None] * table).sum(-2).real
    pull = 2 * kernel[:, None] * table  # d loss / d w, conjugated
    moved = steps * weights.astype(complex)[..., None] * pull
    exact = [moved.real, -moved.imag, pull.real, -pull.imag]
    for place, (actual, terms) in enumerate(zip(slopes, exact, strict=True)):
        terms = terms.sum(0) if shared and place < 2 else terms
        assert reference.worst(actual, terms.sum(-1)) < length * float(jnp.finfo(jnp.float32).eps)  # one by one added


def test_real_poles_and_other_shapes():
    poles = engine.poles(np.log([0.9, 0.5]))
    kernel = engine.kernel(poles, jnp.ones((4, 3, 2)), 5)
    np.testing.assert_allclose(kernel[1, 2], 0.9 ** np.arange(5) + 0.5 ** np.arange(5), rtol=1e-6)
    signed = engine.kernel(engine.signed_poles(jnp.array([-0.9, 0.0])), jnp.array([1.0, 2.0]), 4)
    np.testing.assert_allclose(signed, [3, -0.9, 0.81, -0.729], rtol=1e-6)
    assert engine.kernel(poles, jnp.ones((0, 2)), 5).shape == (0, 5)


def test_memory_of_a_kernel_is_far_below_the_grid():
    shape = jax.eval_shape(lambda: engine.poles(jnp.zeros((8, 256)), jnp.zeros((8, 256))))
    weights = jax.ShapeDtypeStruct((8, 256), jnp.complex64)
    compiled = jax.jit(lambda p, w: engine.kernel(p, w, 16384)).lower(shape, weights).compile()
    grid = 8 * 256 * 16384 * 8
    assert compiled.memory_analysis().temp_size_in_bytes < grid / 16


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "magic"}, "must be one of auto, two_level"),
        ({"length": -1}, "at least 0, but got -1"),
        ({"length": 2.5}, "an integer of at least 0, but got 2.5"),
        ({"weights": jnp.ones(3)}, "must share their last axis"),
    ],
)
def test_bad_arguments_get_a_sentence(change, sentence):
    arguments = {"weights": jnp.ones(2), "length": 4, "method": "auto"} | change
    with pytest.raises(ValueError, match=sentence):
        engine.kernel(engine.poles(np.zeros(2)), arguments["weights"], arguments["length"], method=arguments["method"])
