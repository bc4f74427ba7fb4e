"""Gated layers: what their parts are, and what is refused."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import short_convolution

from stablessm import PARAMETERIZATIONS
from stablessm.layers import S4D, GatedSSM, Hyena, ShortConvolution

EXP = PARAMETERIZATIONS["exp"]
KEY = jax.random.key(0)


def test_a_short_convolution_is_its_sum_its_steps_and_its_kernel():
    layer = ShortConvolution(inputs=2, taps=3, key=KEY)
    x = jax.random.normal(KEY, (6, 2))
    (y, last), kernel = layer(x), np.asarray(layer.kernel(5))
    exact = short_convolution(layer, np.asarray(x, float))
    np.testing.assert_allclose(y, exact, atol=1e-6)
    state, steps = jax.lax.scan(lambda *both: layer.step(*both), layer.initial_state(), x)
    np.testing.assert_allclose(steps, exact, atol=1e-6)
    np.testing.assert_array_equal(state, last)
    assert kernel.shape == (5, 2, 2) and (kernel[3:] == 0).all() and layer.kernel(0).shape == (0, 2, 2)
    np.testing.assert_array_equal(kernel[:3, 1, 1], layer.taps[1])


def test_any_kind_with_a_map_is_a_recurrence_and_starts_where_it_says():
    layer = GatedSSM(EXP, -jnp.array([0.1, 0.5]), inputs=3, recurrence="s4d", rule="bilinear", key=KEY)
    assert isinstance(layer.recurrence, S4D) and layer.recurrence.rule == "bilinear"
    np.testing.assert_allclose(layer.eigenvalues(), np.broadcast_to([-0.1, -0.5], (3, 2)), rtol=1e-6)
    with pytest.raises(ValueError, match="its `recurrence` may have one"):
        layer.kernel(2)


def test_windows_begin_at_one_and_decay_as_the_map_says():
    discrete = EXP.replace(link="exponential")
    layer = Hyena(discrete, [0.8, 0.5], inputs=3, context=9, octaves=1, hidden=4, key=KEY)
    windows, *filters = eqx.filter_jit(lambda one: (one.windows(9), one.filters(20), one.filters(0)))(layer)
    amplitude = np.asarray(layer.amplitude)
    exact = [(amplitude * np.array([0.8, 0.5]) ** k).sum(1) for k in range(9)]
    np.testing.assert_allclose(windows.T, exact, atol=1e-6)
    np.testing.assert_allclose(windows[:, 0], 1, rtol=1e-6)
    assert [one.shape for one in filters] == [(1, 3, 9), (1, 3, 0)]
    with pytest.raises(ValueError, match="its `filters` are between its gates"):
        layer.kernel(2)


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: GatedSSM(EXP, [-0.5], inputs=2, recurrence="lstm", key=KEY), "`recurrence` must be one of linear_rnn, "),
    (lambda: GatedSSM(EXP, [-0.5], inputs=2, recurrence="bidirectional", key=KEY), "but got 'bidirectional'"),
    (lambda: GatedSSM(EXP, [-0.5], inputs=2, recurrence="ssm", key=KEY), "takes 2 and gives 1"),
    (lambda: ShortConvolution(inputs=2, taps=0, key=KEY), "`taps` must be an integer of at least 1, but got 0"),
    (lambda: Hyena(EXP, [-0.5], inputs=2, order=1, key=KEY), "`order` must be an integer of at least 2, but got 1"),
    (lambda: Hyena(EXP, [-0.5], inputs=2, context=0, key=KEY), "`context` must be an integer of at least 1"),
    (lambda: Hyena(EXP, [-0.5], inputs=2, rule="euler", key=KEY), "`rule` must be one of"),
    (lambda: Hyena(EXP, [0.5], inputs=2, key=KEY), "must lie in"),
])  # fmt: skip
def test_what_does_not_fit_gets_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
