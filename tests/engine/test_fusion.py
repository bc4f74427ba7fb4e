"""What is computed once and read many times."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.engine import kernel, poles
from stablessm.engine.fusion import computed_once


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (129,), (3, 43), (2, 64)])
def test_the_array_and_its_derivative_are_as_they_were(shape):
    """Odd and even sizes, empty ones and single values."""
    x = jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32)
    assert np.array_equal(computed_once(x), x)
    slopes = jax.grad(lambda x: jnp.sum(computed_once(x) ** 2))(x)
    assert np.array_equal(slopes, 2 * x)


def test_it_maps_over_a_further_axis():
    """Each row by itself."""
    x = jnp.arange(387.0).reshape(3, 129)
    assert np.array_equal(jax.vmap(computed_once)(x), x)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="CPUs alone are given a loop")
def test_what_makes_a_weight_is_not_computed_again_for_every_entry_of_a_table():
    """Nothing that has a sine in it puts a table together."""

    def made(angle):
        return kernel(poles(-jnp.exp(angle), angle), jnp.sin(jnp.cos(angle)), 100)

    text = jax.jit(made).lower(jnp.ones((8, 16), jnp.float32)).compile().as_text()
    with_sine = [one for one in re.split(r"\n\n", text) if "sine(" in one]
    assert with_sine
    assert not any("concatenate(" in one for one in with_sine)
