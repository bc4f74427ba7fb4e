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
