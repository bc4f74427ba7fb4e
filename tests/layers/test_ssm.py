"""Eq. 2: activations, states without memory, and stacks of layers."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import SIGMA, ssm

from stablessm import PARAMETERIZATIONS, ParameterizationError
from stablessm.layers import ACTIVATIONS, SSM, LinearRNN, pointwise
from stablessm.models import Stack

KEYS = jax.random.split(jax.random.key(0), 4)
DECAYS = jnp.geomspace(0.05, 0.9, 4)
DISCRETE = PARAMETERIZATIONS["exp"].replace(link="exponential")


def layer(inputs=1, key=KEYS[0], **more):
    made = SSM(PARAMETERIZATIONS["best"], -DECAYS, time="continuous", inputs=inputs, key=key, **more)
    return made if made.bias is None else eqx.tree_at(lambda one: one.bias, made, jax.random.normal(key, (4,)))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_what_they_say(name):
    """Against NumPy in float64. L is no less than any slope, and hardly more; the smallest one decides the flag."""
    one, h = ACTIVATIONS[name], np.linspace(-9, 9, 20001)
    np.testing.assert_allclose(one(jnp.asarray(h, jnp.float32)), SIGMA[name](h), rtol=1e-5, atol=1e-6)
    slopes = np.diff(SIGMA[name](h)) / np.diff(h)
    largest = np.abs(slopes).max()
    assert largest <= one.lipschitz * (1 + 1e-9)
    assert one.lipschitz - largest < (1e-6 if name in ("gelu", "silu") else 1e-3)  # softplus approaches it far out
    assert one.strictly_increasing == (slopes.min() > 0)
    assert one.is_linear == (np.ptp(slopes) < 1e-9)


@pytest.mark.parametrize(("map_", "turn"), [(DISCRETE, jnp.exp(0.3j)), (PARAMETERIZATIONS["tanh"], 1.0)],
                         ids=["exponential, complex", "one-minus, real"])  # fmt: skip
def test_memoryless_states_hold_the_present_input_and_nothing_else(map_, turn):
    values = jnp.asarray([0.9, 0.5]) * turn
    made = SSM(map_, values, time="discrete", inputs=2, memoryless=3, activation="identity", key=KEYS[0])
    x = jax.random.normal(KEYS[1], (9, 2))
    assert made.weight.shape == (2,) and made.outputs == 5 and made.initial_state().shape == (5,)
    assert (made.eigenvalues()[2:] == 0).all() and (made.margin()[2:] == 1).all()
    np.testing.assert_allclose(made.eigenvalues()[:2], values, rtol=1e-6)

    @eqx.filter_jit
    def look(one):
        y, state = one(x[:-1])
        gradient = eqx.filter_grad(lambda one: (one.hidden(x[:-1])[0] ** 2).sum())(one)
        return y, one.step(state, x[-1])[1], one.kernel(4), gradient

    y, last, kernel, gradient = look(made)
    y = np.concatenate([y, last[None]])
    weight = made.input_weight if made.phase is None else made.input_weight[..., 0]
    np.testing.assert_allclose(y[:, 2:], x @ weight[2:].T, atol=1e-6)
    np.testing.assert_allclose(y, ssm(made, np.asarray(x, float)), atol=2e-6)
    np.testing.assert_allclose(kernel[0, 2:], weight[2:], rtol=1e-6)
    assert (kernel[1:, 2:] == 0).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_a_stack_runs_steps_and_splits_like_its_layers():
    stack = Stack([layer(), layer(4, KEYS[1], activation="relu")], readout=jnp.ones((1, 4)), scalar=True)
    x = jax.random.normal(KEYS[2], (12,))

    @eqx.filter_jit
    def look(stack):
        first, middle = stack(x[:5])
        second, end = stack(x[5:], middle)
        state, steps = jax.lax.scan(lambda state, one: stack.step(state, one), stack.initial_state(), x)
        return stack(x), (jnp.concatenate([first, second]), end), (steps, state)

    (whole, last), *others = look(stack)
    below = ssm(stack.layers[0], np.asarray(x, float)[:, None])
    np.testing.assert_allclose(whole, ssm(stack.layers[1], below).sum(-1), atol=1e-5)
    for y, state in others:
        np.testing.assert_allclose(y, whole, atol=1e-5)
        jax.tree.map(lambda one, two: np.testing.assert_allclose(one, two, atol=1e-5), state, last)
    assert stack.eigenvalues().shape == (8,) and not stack.is_linear
    with pytest.raises(ValueError, match="under 'tanh' is not linear"):
        stack.kernel(3)


def test_the_kernel_of_a_linear_stack_of_different_layers():
    """A linear layer, one with states without memory, and a linear RNN: series, kernel and a stack in a stack."""
    rnn = LinearRNN(PARAMETERIZATIONS["softplus"], -DECAYS, time="continuous", inputs=5, outputs=2, key=KEYS[1])
    mixed = SSM(DISCRETE, jnp.exp(-DECAYS[:3]), time="discrete", inputs=4, memoryless=2, activation="identity",
                bias=False, key=KEYS[2])  # fmt: skip
    stack = Stack([Stack([layer(3, activation="identity", bias=False), mixed]), rnn])
    x = jax.random.normal(KEYS[3], (10, 3))
    y, kernel = (np.asarray(one, float) for one in eqx.filter_jit(lambda one: (one(x)[0], one.kernel(10)))(stack))
    assert kernel.shape == (10, 2, 3) and stack.inputs == 3 and stack.outputs == 2
    convolved = [sum(kernel[k] @ np.asarray(x[t - k], float) for k in range(t + 1)) for t in range(10)]
    np.testing.assert_allclose(y, convolved, atol=2e-5)


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: Stack([]), "at least one layer"),
    (lambda: Stack([layer(), layer(3)]), "layer 1 takes 3 features, but layer 0 gives 4 features"),
    (lambda: Stack([layer()], readout=jnp.ones(4)), r"must have the shape \(outputs, 4\)"),
    (lambda: Stack([layer()], scalar=True), "one input and one output, but got 1 feature and 4 features"),
    (lambda: layer(activation="thanh"), "must be one of identity, tanh"),
    (lambda: layer(memoryless=2), "in discrete time only"),
    (lambda: layer(memoryless=-1), "at least 0"),
    (lambda: pointwise(0, inputs=1, key=KEYS[0]), "must have the shape"),
])  # fmt: skip
def test_what_does_not_fit_gets_a_sentence(make, sentence):
    with pytest.raises((ValueError, ParameterizationError), match=sentence):
        make()
