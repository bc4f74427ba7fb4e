"""Theorems 3.1 and 3.4 on models of Eq. 2: what they promise against what is measured and what jax.grad says."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from stacks import stack

from stablessm import PARAMETERIZATIONS, losses
from stablessm.layers import SSM, LinearRNN
from stablessm.memory import memory_function
from stablessm.memory.functions import rest
from stablessm.models import Stack, bounds

KEY = jax.random.key(0)
CASES = [(1, "hardtanh", {}), (3, "tanh", {"is_complex": True}), (2, "gelu", {"link": "exponential"}),
         (2, "identity", {"link": "exponential", "is_complex": True}), (3, "relu", {})]  # fmt: skip
IDS = [f"{depth} {name} {' '.join(map(str, more.values()))}" for depth, name, more in CASES]
STEPS = 60


def by_hand(model, dt):
    """(d + 1) L^l theta^(l + 1) binom(k + l - 1, l - 1) dt^(l - 1) e^(-beta dt k) in NumPy."""

    def joined(pair):
        return pair if layer.phase is None else pair[..., 0] + 1j * pair[..., 1]

    norms, lipschitz = [np.linalg.norm(np.asarray(model.readout), 2)], 1.0
    for layer in model.layers:
        norms += [np.linalg.norm(np.asarray(joined(layer.input_weight)), 2), np.linalg.norm(joined(layer.bias))]
        lipschitz *= layer.activation.lipschitz
    depth, k = len(model.layers), np.arange(STEPS)
    paths = {1: 1.0, 2: dt * (k + 1), 3: dt**2 * (k + 1) * (k + 2) / 2}[depth]
    return 2 * lipschitz * max(norms) ** (depth + 1) * paths * np.exp(-0.05 * dt * k)


@pytest.mark.matrix(2)
@pytest.mark.parametrize(("depth", "activation", "more"), CASES, ids=IDS)
def test_memory_and_gradients_stay_below_what_the_theorems_promise(depth, activation, more):
    model, dt = stack(depth, activation, **more), 1.0 if "link" in more else 0.5
    x = jax.random.uniform(KEY, (STEPS,), minval=-1.0)
    target = jnp.sin(jnp.arange(STEPS))

    @eqx.filter_jit
    def look(model):
        memory = memory_function(model, STEPS, state=rest(model, 400, 0.0)) / dt
        slope = eqx.filter_grad(lambda one: jnp.abs(one(x)[0] - target).max())(model)
        scales = [_scale(layer) for layer in model.layers]
        promised = bounds.memory_bound(model, STEPS), bounds.memory_majorant(model, STEPS)
        return memory, *promised, [one.weight for one in slope.layers], scales, bounds.gradient_constants(model, x)

    memory, bound, majorant, gradients, scales, constants = look(model)
    np.testing.assert_allclose(bound, by_hand(model, dt), rtol=2e-4)
    floor = 1e-6 * memory.max()
    assert (memory <= majorant * (1 + 1e-4) + floor).all() and (majorant <= bound * (1 + 1e-4)).all()
    assert (memory > 1e-3 * majorant).any()  # the bound says something
    assert float(bounds.slowest_decay(model)) == pytest.approx(0.05, rel=1e-5)
    for gradient, scale, constant in zip(gradients, scales, constants, strict=True):
        assert (jnp.abs(gradient) <= constant * scale * (1 + 1e-4)).all()
    assert (jnp.abs(gradients[-1]) > 0.03 * constants[-1] * scales[-1]).any()


def _scale(layer):
    slope = jax.vmap(jax.grad(lambda w: layer.parameterization.eigenvalue(w)))(layer.weight)
    return jnp.abs(slope) / layer.parameterization.margin(layer.weight) ** 2


def test_the_majorant_is_the_memory_of_a_positive_linear_model():
    """One layer and two, all weights positive: t e^{-st} and its like are reached, not only bounded."""
    model = stack(2, "identity")
    positive = [
        eqx.tree_at(
            lambda one: (one.input_weight, one.bias), layer, (jnp.abs(layer.input_weight), jnp.zeros_like(layer.bias))
        )
        for layer in model.layers
    ]
    model = Stack(positive, readout=jnp.abs(model.readout), scalar=True)
    np.testing.assert_allclose(bounds.memory_majorant(model, 40), model.kernel(40) / 0.5, rtol=1e-4)


MAPS = [("direct", "continuous"), ("best", "continuous"), ("tanh", "one-minus"), ("exp", "exponential"),
        ("softplus", "continuous"), ("best", "one-minus")]  # fmt: skip


@pytest.mark.matrix(2)
@pytest.mark.parametrize(("name", "link"), MAPS)
def test_the_gradient_of_the_largest_error_is_the_gradient_scale(name, link):
    """|dL/dw| = |c U| |f'|/f^2, and |c U| |f'|/(1 - |f|)^2, where the kernels do not cross; less where they do."""
    map_, decays = PARAMETERIZATIONS[name].replace(link=link), jnp.geomspace(0.02, 1.5, 7)
    continuous, length = link == "continuous", 1200
    start = jnp.asarray([-0.5 if continuous else 0.5])
    model = LinearRNN(map_, start, time="continuous" if continuous else "discrete", key=KEY)
    times = jnp.arange(length)

    @jax.jit
    @jax.vmap
    def look(decay):
        rate = decay if continuous or link == "exponential" else -jnp.expm1(-decay)
        weight = map_.weight(rate)

        def loss(weight, size, faster):
            one = eqx.tree_at(lambda m: (m.weight, m.input_weight, m.readout), model,
                              (weight[None], jnp.full((1, 1), -0.7), jnp.full((1, 1), 3 * size)))  # fmt: skip
            target = -2.1 * jnp.exp(-faster * decay * times)
            target = target * -jnp.expm1(-faster * decay) / (faster * decay) if continuous else target
            return losses.absolute(one.kernel(length), target)

        slope = jax.grad(map_.eigenvalue)(weight)
        bound = 2.1 * jnp.abs(slope) / map_.margin(weight) ** 2
        gradients = [jnp.abs(jax.grad(loss)(weight, *at)) for at in ((1.0, 2.0), (1.0, 0.7), (0.5, 2.0))]
        return jnp.stack(gradients) / bound / jnp.asarray([1.0, 1.0, 0.5])

    ratios = look(decays)
    np.testing.assert_allclose(ratios[:, 0], 1, rtol=1e-3)
    np.testing.assert_allclose(ratios[:, 1], 1, rtol=1e-3)
    assert (ratios[:4, 2] < 0.95).all()  # at half the size the kernels of slow modes cross behind their first sample


def test_bounds_of_other_models_are_refused_in_a_sentence():
    rnn = LinearRNN(PARAMETERIZATIONS["exp"], -jnp.ones(2), time="continuous", inputs=1, outputs=1, key=KEY)
    with pytest.raises(ValueError, match="layer 0 is a LinearRNN"):
        bounds.memory_bound(Stack([rnn]), 5)
    one, two = (SSM(PARAMETERIZATIONS["exp"], -jnp.ones(1), time="continuous", inputs=1, step_size=size, key=KEY)
                for size in (0.5, 1.0))  # fmt: skip
    with pytest.raises(ValueError, match=r"one step size, but got 0\.5 and 1"):
        bounds.memory_bound(Stack([one, two]), 5)
