"""A family is its maps: numbers, derivatives and inverses are those of the chosen one, also where another overflows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.parameterizations import PARAMETERIZATIONS, Family, Parameterization, ParameterizationError
from stablessm.parameterizations.grammar import CHOICE

MAPS = tuple(PARAMETERIZATIONS[name] for name in ("exp", "best", "square", "softplus"))
WEIGHTS = jnp.asarray([-200.0, -3.0, -0.5, 0.7, 2.0, 98.0, 1e20])  # e^98 overflows float32, e^200 underflows


@pytest.mark.matrix(2)
@pytest.mark.parametrize("link", ["continuous", "one-minus", "exponential"])
def test_views_and_derivatives_are_those_of_the_chosen_map(link):
    maps = tuple(one.replace(link=link) for one in MAPS)
    family = Family(maps)
    views = ["decay", "eigenvalue", "log_eigenvalue", "margin"] + ["log_multiplier"] * (link != "one-minus")

    @jax.jit
    def of_family(weight, place):
        return [jax.vmap(jax.value_and_grad(lambda w, v=view: getattr(family, v)(w, **{CHOICE: place})))(weight)
                for view in views]  # fmt: skip

    for place, one in enumerate(maps):
        for view, (value, slope) in zip(views, of_family(WEIGHTS, jnp.int32(place)), strict=True):
            alone, own_slope = jax.vmap(jax.value_and_grad(getattr(one, view)))(WEIGHTS)
            np.testing.assert_allclose(value, alone, rtol=1e-6, err_msg=f"{one.name} {view}")
            np.testing.assert_allclose(slope, own_slope, rtol=1e-6, err_msg=f"{one.name} d{view}")


def test_each_map_takes_the_constants_it_has_and_inverts():
    family = Family(MAPS[:2])
    decay = jnp.asarray([0.1, 0.5, 1.5])

    @jax.jit
    def around(place, b):
        constants = {CHOICE: place, "b": b}
        weight = family.weight(decay, **constants)
        return weight, family.decay(weight, **constants), family.zero_order_hold(weight, 0.5, **constants)

    for place, one in enumerate(MAPS[:2]):
        constants = {"b": jnp.float32(0.2)} if "b" in one.constant_names else {}
        weight, back, held = around(place, jnp.float32(0.2))
        np.testing.assert_allclose(weight, one.weight(decay, **constants), rtol=1e-6)
        np.testing.assert_allclose(back, decay, rtol=1e-5)
        for part, alone in zip(held, one.zero_order_hold(weight, 0.5, **constants), strict=True):
            np.testing.assert_allclose(part, alone, rtol=1e-6)


def test_what_is_no_family_is_refused():
    with pytest.raises(ParameterizationError, match="maps under one link, but got none"):
        Family(())
    with pytest.raises(ParameterizationError, match="maps under one link, but got continuous, one-minus"):
        Family((MAPS[0], MAPS[1].replace(link="one-minus")))
    with pytest.raises(ParameterizationError, match=f"uses '{CHOICE}', which has a fixed meaning"):
        Parameterization.from_formula(f"exp(w)*{CHOICE}")
