"""The selective layer: S5 where nothing is selected, one start for every map, and what is refused."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import S5, Selective
from stablessm.layers.roles import roles

KEY = jax.random.key(0)


def test_without_selection_it_is_an_s5():
    map_ = PARAMETERIZATIONS["tanh"]
    layer = Selective(map_, jnp.array([0.9, 0.5]), inputs=3, selectivity=0.0, key=KEY)
    x = jax.random.normal(KEY, (17, 3))
    y, wanted = eqx.filter_jit(lambda one: (one(x)[0], one.system(x)[0]))(layer)
    assert isinstance(layer.system, S5)
    np.testing.assert_allclose(y, wanted, atol=2e-6)
    with pytest.raises(ValueError, match="has no kernel; its `system` has one"):
        layer.kernel(3)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("link", ["one-minus", "continuous"])
def test_every_map_starts_with_the_same_relative_change_of_its_decays(link):
    """d log s / d u, by differences in float64 from the map's own values; `best` at w = 0 is cut, and finite."""
    decays, seen = np.array([0.02, 0.3]), []
    for name in ("direct", "exp", "softplus", "best", "tanh"):
        if link not in PARAMETERIZATIONS[name].links:
            continue
        map_ = PARAMETERIZATIONS[name].replace(link=link)
        start = -decays if link == "continuous" else 1 - decays
        layer = Selective(map_, start, inputs=3, selectivity=1e-3, key=KEY)
        moved = layer.system.weight[:, None] + layer.selection
        seen.append(map_.decay(moved) / map_.decay(layer.system.weight)[:, None] - 1)
    assert len(seen) >= 3 and np.abs(seen[0]).max() > 1e-4
    for one in seen[1:]:
        np.testing.assert_allclose(one, seen[0], atol=5e-6)  # second order, and the rounding of 1 + 1e-3
    flat = Selective(PARAMETERIZATIONS["best"], [-2.0, -1.9], inputs=3, key=KEY)
    assert np.isfinite(flat.selection).all() and (np.abs(flat.selection) < 4).all()
    assert roles(flat).selection == roles(flat).system.weight == "recurrent"


def test_a_map_that_is_not_stable_may_step_beyond_one_and_one_that_is_may_not():
    x = 4 * jax.random.normal(KEY, (50, 3))
    largest = {}
    for name in ("direct", "tanh", "best"):
        map_ = PARAMETERIZATIONS[name].replace(link="one-minus")
        layer = Selective(map_, jnp.array([0.9, 0.99]), inputs=3, normalise=True, key=KEY)
        y, multipliers = eqx.filter_jit(lambda one: (one(x)[0], one.multipliers(x)))(layer)
        assert np.isfinite(y).all()
        largest[name] = np.abs(multipliers).max()
    assert largest["direct"] > 1 and largest["tanh"] <= 1 and largest["best"] <= 1


def test_what_does_not_fit_gets_a_sentence():
    exp = PARAMETERIZATIONS["exp"]
    with pytest.raises(ValueError, match="`selectivity` must be finite and at least 0, but got -1"):
        Selective(exp, [-0.5], inputs=1, selectivity=-1, key=KEY)
    with pytest.raises(ValueError, match="`normalise` is of discrete time"):
        Selective(exp, [-0.5], inputs=1, normalise=True, key=KEY)


def test_b_c_and_d_that_follow_the_input_scale_what_is_written_read_and_passed():
    """Against a loop in float64 that writes the equations out, and step by step."""
    layer = Selective(
        PARAMETERIZATIONS["tanh"], jnp.array([0.9, 0.5]), inputs=3, follows=["B", "C", "D"], key=jax.random.key(1)
    )
    names = ("drive_selection", "read_selection", "feed_selection")
    where = lambda one: [getattr(one, name) for name in names]  # noqa: E731
    plain, x = layer, jax.random.normal(KEY, (9, 3))
    layer = eqx.tree_at(where, layer, [jax.random.normal(jax.random.key(2 + k), one.shape) / 3
                                       for k, one in enumerate(where(layer))])  # fmt: skip

    @eqx.filter_jit
    def run(layer, plain, x):
        def step(state, x):
            return layer.step(state, x)

        half = layer(x[:4])[1]
        return (layer(x)[0], jax.lax.scan(step, layer.initial_state(), x)[1], layer(x[4:], half)[0],
                plain(x)[0], layer.multipliers(x))  # fmt: skip

    y, stepped, later, unscaled, multipliers = (np.asarray(one, np.float64) for one in run(layer, plain, x))
    b, c, d = (np.asarray(getattr(layer.system, name), np.float64)
               for name in ("input_weight", "readout", "feedthrough"))  # fmt: skip
    vb, vc, vd = (np.asarray(one, np.float64) for one in where(layer))
    state, exact = np.zeros(2), []
    for u, multiplier in zip(np.asarray(x, np.float64), multipliers, strict=True):
        state = multiplier * state + (1 + vb @ u) * (b @ u)
        exact.append(c @ ((1 + vc @ u) * state) + (1 + vd @ u) * d * u)
    np.testing.assert_allclose(y, exact, atol=2e-5)
    np.testing.assert_allclose(stepped, exact, atol=2e-5)
    np.testing.assert_allclose(later, exact[4:], atol=2e-5)
    without = Selective(PARAMETERIZATIONS["tanh"], jnp.array([0.9, 0.5]), inputs=3, key=jax.random.key(1))
    np.testing.assert_allclose(unscaled, without(x)[0], atol=2e-6)  # every choice begins as the same layer
    for wrong in ("B", ["E"], ["B", "B"]):
        with pytest.raises(ValueError, match="`follows` must list some of B, C, D, each once"):
            Selective(PARAMETERIZATIONS["exp"], [-0.5], inputs=1, follows=wrong, key=KEY)
