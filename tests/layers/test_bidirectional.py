"""Two directions: the convention of the backward kernel, padding that never leaks, and no steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import bidirectional

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LAYERS, LRU, LSTM, S4D, Bidirectional
from stablessm.models import Block, Network, Stack

KEYS = jax.random.split(jax.random.key(0), 4)
EXP = PARAMETERIZATIONS["exp"]
TIME, WIDTH = 9, 2


def pair(kind, **more):
    if kind is LSTM:
        return Bidirectional(*(LSTM(inputs=WIDTH, key=key) for key in KEYS[:2]), **more)
    map_ = EXP if kind is S4D else EXP.replace(link="exponential")
    poles = -jnp.array([0.1, 0.5]) if kind is S4D else jnp.array([0.9, 0.5])
    return Bidirectional(*(kind(map_, poles, inputs=WIDTH, key=key) for key in KEYS[:2]), **more)


@pytest.mark.matrix(2)
@pytest.mark.parametrize(("kind", "more"), [(S4D, {}), (LSTM, {}), (LRU, {"merge": "project", "key": KEYS[2]})])
def test_both_directions_and_padding_that_never_leaks(kind, more):
    layer = pair(kind, **more)
    x = np.asarray(jax.random.normal(KEYS[3], (TIME, WIDTH)))

    @eqx.filter_jit
    def look(layer, x, length):
        """The whole series; behind `length` garbage; the gradient of what counts, which garbage must not reach."""
        padded = jnp.where(jnp.arange(TIME)[:, None] < length, x, 1e6)
        gradient = jax.grad(lambda x: (layer(x, length=length)[0] ** 2).sum())(padded)
        kernels = (layer.kernel(TIME), layer.reverse_kernel(TIME)) if layer.is_linear else None
        return layer(x)[0], layer(padded, length=length)[0], gradient, kernels

    whole, some, gradient, kernels = look(layer, x, jnp.array(6))
    np.testing.assert_allclose(whole, bidirectional(layer, x.astype(float)), atol=2e-6)
    np.testing.assert_allclose(some[:6], bidirectional(layer, x[:6].astype(float)), atol=2e-6)
    np.testing.assert_allclose(look(layer, x, jnp.array(TIME + 2))[1], whole, atol=2e-6)  # no more than there are
    assert (some[6:] == 0).all() and (gradient[6:] == 0).all() and (np.abs(gradient[:6]).max(1) > 0).all()
    if kernels is not None:
        ahead, back = (np.asarray(one, float) for one in kernels)
        convolved = [
            sum(ahead[j] @ x[k - j] for j in range(k + 1)) + sum(back[j] @ x[k + 1 + j] for j in range(TIME - k - 1))
            for k in range(TIME)
        ]
        np.testing.assert_allclose(whole, convolved, atol=2e-6)
    assert layer.eigenvalues().shape[0] == 2


def test_a_classifier_that_looks_ahead_does_not_see_its_padding():
    inner = LAYERS["bidirectional"].build(EXP, -jnp.array([0.1, 0.5]), inputs=WIDTH, layer="linear_rnn", key=KEYS[0])
    model = Network([Block(Stack([inner]), key=KEYS[1])], purpose="classification", outputs=3, inputs=3, key=KEYS[2])
    x = jax.random.normal(KEYS[3], (TIME, 3))
    run = eqx.filter_jit(lambda model, x, length: model(x, length=length)[0])
    cases = (x, 6), (x.at[6:].set(1e3), 6), (x, TIME)
    one, two, more = (run(model, series, jnp.array(length)) for series, length in cases)
    np.testing.assert_array_equal(one, two)
    assert np.abs(more - one).max() > 1e-3


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: pair(S4D).step((), jnp.ones(WIDTH)), "so that it has no steps"),
    (lambda: pair(S4D).initial_state(), "so that it has no steps"),
    (lambda: pair(S4D)(jnp.ones((3, WIDTH)), jnp.ones(3)), "goes on from no state"),
    (lambda: pair(LSTM).kernel(3), "no kernel"),
    (lambda: pair(S4D, merge="mean"), "`merge` must be one of sum, project, but got 'mean'"),
    (lambda: pair(S4D, merge="project"), "give a `key`"),
    (lambda: Bidirectional(pair(S4D), pair(S4D)), "must not look ahead themselves"),
    (lambda: Bidirectional(*(LSTM(inputs=n, key=KEYS[0]) for n in (2, 3))), r"but got \(2, 2\) and \(3, 3\)"),
    (lambda: LAYERS["bidirectional"].build(EXP, [-0.5], inputs=2, layer="s4e", key=KEYS[0]), "`layer` must be one of"),
    (lambda: Network([Block(pair(S4D), key=KEYS[0])], purpose="next_value", outputs=1, key=KEYS[1]),
     "must not look ahead, but block 0 does"),
])  # fmt: skip
def test_what_does_not_fit_gets_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
