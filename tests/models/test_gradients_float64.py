"""At equal eigenvalues maps differ in the gradient of the recurrent weights alone, and there by f'(w) exactly."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from stacks import stack

pytestmark = pytest.mark.float64
LINKS = {"continuous": ["direct", "exp", "softplus", "best"], "exponential": ["exp", "softplus", "best", "sigmoid"]}


@pytest.mark.parametrize("link", LINKS)
def test_gradients_of_stacks_across_maps(link, request):
    """The first map against the others; without --full against one, for each is a program of its own to compile."""
    first, *others = LINKS[link]
    others = others if request.config.getoption("--full") else others[-1:]
    x = jax.random.normal(jax.random.key(1), (40,))
    loss = eqx.filter_jit(eqx.filter_grad(lambda model: ((model(x)[0] - jnp.cos(x)) ** 2).sum()))

    def parts(name):
        model = stack(2, "tanh", name, link=link, is_complex=True)
        gradient = loss(model)
        slopes = [jax.vmap(jax.grad(one.parameterization.eigenvalue))(one.weight) for one in model.layers]
        recurrent = [layer.weight / slope for layer, slope in zip(gradient.layers, slopes, strict=True)]
        rest = [(one.input_weight, one.bias, one.phase) for one in gradient.layers]
        return recurrent, rest, gradient.readout

    reference = parts(first)
    for name in others:
        for one, two in zip(jax.tree.leaves(parts(name)), jax.tree.leaves(reference), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-11 * np.abs(two).max())
