"""Recurrences: every method, every split and every length gives the float64 states; gradients go through the state."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import engine
from tests.engine import reference
from tests.engine.reference import both_precisions

RECUR = ("scan", "chunked", "associative")
BANK = ("scan", "chunked", "associative", "convolution")


def problem(length, *, is_complex=True, seed=0):
    """Three modes (one forgets everything in a step), two series of that length."""
    rng = np.random.default_rng(seed)
    log_modulus, phase = np.array([-0.001, -50.0, -0.3]), rng.uniform(-np.pi, np.pi, 3) if is_complex else None
    inputs = rng.normal(size=(2, length, 3))
    state = rng.normal(size=(2, 3)) + (1j * rng.normal(size=(2, 3)) if is_complex else 0)
    return log_modulus, phase, inputs, state


def dense(log_modulus, phase, inputs, state):
    step = np.exp(log_modulus + (0 if phase is None else 1j * phase))
    states = []
    for x in np.moveaxis(inputs, -2, 0):
        state = step * state + x
        states.append(state)
    return np.stack(states, -2) if states else np.zeros((*inputs.shape[:-1], len(step)), state.dtype), state


def cast(dtype, array):
    return jnp.asarray(array, jnp.result_type(dtype, jnp.complex64) if np.iscomplexobj(array) else dtype)


@both_precisions
@pytest.mark.parametrize(("method", "is_complex"), [*((one, True) for one in RECUR), ("chunked", False)])
def test_states_against_float64_and_all_splits_of_ten(dtype, method, is_complex):
    log_modulus, phase, inputs, state = problem(10, is_complex=is_complex)
    poles = engine.poles(log_modulus, phase)
    exact, end = dense(log_modulus, phase, inputs, state)
    run = jax.jit(lambda u, h: engine.recur(poles, u, h, method=method))
    tolerance = 20 * float(jnp.finfo(dtype).eps)
    inputs, state = cast(dtype, inputs), cast(dtype, state)
    for cut in range(11) if is_complex and method == "chunked" else (0, 4):
        first, middle = run(inputs[:, :cut], state)
        second, last = run(inputs[:, cut:], middle)
        assert reference.worst(jnp.concatenate([first, second], axis=1), exact) < tolerance, cut
        assert reference.worst(last, end) < tolerance


@both_precisions
@pytest.mark.parametrize("method", ["chunked", "convolution"])
def test_bank_against_float64_and_splits(dtype, method):
    rng = np.random.default_rng(3)
    log_modulus, phase = -np.array([[0.002, 50.0], [0.1, 0.02], [1.0, 1e-5]]), rng.uniform(-3, 3, (3, 2))
    weights = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    inputs, state = rng.normal(size=(2, 3, 37)), rng.normal(size=(2, 3, 2)) + 1j * rng.normal(size=(2, 3, 2))
    step, h, exact = np.exp(log_modulus + 1j * phase), state, []
    for x in np.moveaxis(inputs, -1, 0):
        h = step * h + x[..., None]
        exact.append((weights * h).sum(-1).real)
    exact, poles = np.stack(exact, -1), engine.poles(log_modulus, phase)
    run = jax.jit(lambda u, h: engine.filter_bank(poles, cast(dtype, weights), u, h, method=method, chunk=8))
    inputs, state = cast(dtype, inputs), cast(dtype, state)
    tolerance = 30 * float(jnp.finfo(dtype).eps)
    for cut in (0, 18):
        first, middle = run(inputs[..., :cut], state)
        second, last = run(inputs[..., cut:], middle)
        assert reference.worst(jnp.concatenate([first, second], axis=-1), exact) < tolerance, cut
        assert reference.worst(last, h) < tolerance


def test_strong_decay_is_the_same_at_every_chunk_size():
    poles, inputs = engine.poles(np.array([-50.0]), np.array([1.0])), jnp.linspace(1.0, 2.0, 100)
    for chunk in (1, 7, 64, 200):
        run = jax.jit(lambda u, size=chunk: engine.filter_bank(poles, jnp.ones(1), u, method="chunked", chunk=size))
        outputs, state = run(inputs)
        np.testing.assert_allclose(outputs, inputs, rtol=1e-6)
        np.testing.assert_allclose(state, inputs[-1:], rtol=1e-6)


def test_gradients_of_all_methods_agree_through_the_state_and_a_split():
    rng = np.random.default_rng(5)
    poles = engine.poles(-np.array([[0.01, 0.5], [0.1, 0.02]]), rng.uniform(-3, 3, (2, 2)))
    args = [
        jnp.asarray(rng.normal(size=size), jnp.float32) for size in ((2, 2), (2, 2), (3, 2, 13), (3, 2, 2), (3, 2, 2))
    ]

    def gradient(method, cut):
        def loss(poles, w, v, u, x, y):
            weights, state, total = jax.lax.complex(w, v), jax.lax.complex(x, y), 0.0
            for part in (u[..., :cut], u[..., cut:]):
                outputs, state = engine.filter_bank(poles, weights, part, state, method=method, chunk=4)
                total += (jnp.arange(1.0, 1 + outputs.shape[-1]) * outputs**2).sum()
            return total + (state.real * state.imag).sum()

        return jax.tree.leaves(jax.jit(jax.grad(loss, tuple(range(6))))(poles, *args))

    expected = gradient("scan", 5)
    for method in ("chunked", "convolution"):
        for one, other in zip(gradient(method, 5), expected, strict=True):
            assert reference.worst(one, other) < 1e-5, method


@pytest.mark.parametrize("method", ["scan", "chunked"])
def test_gradient_of_states_and_matrices(method):
    rng = np.random.default_rng(7)
    shapes = {"a": (4,), "t": (4,), "b": (4, 3), "c": (2, 4), "u": (2, 9, 3), "h": (2, 4)}
    args = {name: jnp.asarray(rng.normal(size=(*shape, 2)), jnp.float32) for name, shape in shapes.items()}
    join = lambda pair: jax.lax.complex(pair[..., 0], pair[..., 1])  # noqa: E731

    def loss(args, run):
        a, t = -jnp.abs(args["a"][..., 0]), args["t"][..., 0]
        outputs, state = run(a, t, join(args["b"]), join(args["c"]), args["u"][..., 0], join(args["h"]))
        return (outputs**2).sum() + (state.real * state.imag).sum()

    def direct(a, t, b, c, u, h):
        step, outputs = jnp.exp(jax.lax.complex(a, t)), []
        for k in range(9):
            h = step * h + u[:, k] @ b.T
            outputs.append((h @ c.T).real)
        return jnp.stack(outputs, 1), h

    def engines(a, t, b, c, u, h):
        return engine.recur(engine.poles(a, t), u, h, drive=b, readout=c, method=method)

    actual, expected = (jax.jit(jax.grad(lambda args, run=run: loss(args, run)))(args) for run in (engines, direct))
    for name in args:
        assert reference.worst(actual[name], expected[name]) < 1e-5, name


def test_variable_lengths_stop_each_series_where_it_ends():
    log_modulus, phase, inputs, state = problem(9)
    poles, lengths = engine.poles(log_modulus, phase), jnp.array([0, 6])
    inputs, state = cast(jnp.float32, inputs), cast(jnp.float32, state)
    for method in RECUR[:2]:
        outputs, last = jax.jit(lambda u, m=method: engine.recur(poles, u, state, lengths=lengths, method=m))(inputs)
        expected, end = dense(log_modulus, phase, np.asarray(inputs[1, :6], float), np.asarray(state[1], complex))
        np.testing.assert_allclose(last, jnp.stack([state[0], end]), atol=1e-5)
        np.testing.assert_allclose(outputs[1, :6], expected, atol=1e-5)
        assert (outputs[0] == 0).all() and (outputs[1, 6:] == 0).all()
    weights = jnp.ones(3, jnp.complex64)
    for method in BANK[1:]:
        run = jax.jit(lambda u, m=method: engine.filter_bank(poles, weights, u, state, lengths=lengths, method=m))
        outputs, last = run(inputs[..., 0])
        driven = np.repeat(np.asarray(inputs[1, :6, :1], float), 3, axis=1)
        expected, end = dense(log_modulus, phase, driven, np.asarray(state[1], complex))
        np.testing.assert_allclose(last, jnp.stack([state[0], end]), atol=1e-5)
        np.testing.assert_allclose(outputs[1, :6], expected.sum(-1).real, atol=1e-5)
        assert (outputs[0] == 0).all() and (outputs[1, 6:] == 0).all()


def test_small_shapes():
    one = jax.jit(lambda u: engine.recur(engine.poles(np.log(0.5)), u, jnp.array(4.0)))(jnp.array([1.0, 0.0]))
    assert one[0].tolist() == [3.0, 1.5] and one[1] == 1.5
    poles = engine.poles(np.log([0.5, 0.25]))
    assert engine.recur(poles, jnp.ones((0, 7, 2)))[0].shape == (0, 7, 2)
    state = jnp.array([1.0, 2.0])
    for function in (lambda u: engine.recur(poles, u, state), lambda u: engine.filter_bank(poles, state, u, state)):
        assert jax.jit(function)(jnp.zeros(0))[1].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="must be one of auto, scan"):
        engine.recur(poles, jnp.ones(3), method="magic")
    with pytest.raises(ValueError, match="must have 2 states, or 1"):
        engine.recur(poles, jnp.ones((4, 3)))
    with pytest.raises(ValueError, match="must be one of auto, associative"):
        engine.filter_bank(poles, state, jnp.ones(3), method="magic")


def test_choice_is_legal_everywhere():
    for platform in ("cpu", "gpu"):
        for states in (1, 8, 64, 4096):
            for length in (0, 1, 4096):
                for gradient in (False, True):
                    assert engine.choose(states, length, gradient=gradient, platform=platform) in BANK
    with pytest.raises(ValueError, match="at least 1"):
        engine.choose(0, 5, gradient=False, platform="cpu")


@pytest.mark.parametrize("rest", [0, 70])
def test_a_bank_of_growing_poles_overflows_by_scan_where_its_state_does(rest):
    inputs = jnp.zeros(120).at[rest:].set(1.0)
    outputs, state = engine.filter_bank(engine.poles(np.log([10.0])), jnp.ones(1), inputs, method="scan")
    overflow = rest + 39  # 1.1 10^38 is a float32, 1.1 10^39 is none
    assert (engine.first_bad_step(outputs), bool(jnp.isinf(state[0]))) == (overflow, True)
    np.testing.assert_allclose(outputs[rest : rest + 3], [1, 11, 111], rtol=1e-6)
