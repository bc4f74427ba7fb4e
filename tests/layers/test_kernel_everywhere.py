"""No weight of any map makes the kernel, or its gradient, NaN: a saturated mode is gone and leaves the others alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LinearRNN

LINKS = [(name, link) for name, one in PARAMETERIZATIONS.items() for link in one.links if link != "one-minus"]
TINY = np.nextafter(np.float32(0), np.float32(1), dtype=np.float32)
WEIGHTS = np.float32([0, TINY, 1e-20, 1e-6, 0.3, 1, 9, 40, 87, 88.8, 98, 700, 1e4, 1e12, 1e19, 1e30, 3.4e38])


@pytest.mark.matrix(11)
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize(("name", "link"), LINKS)
def test_kernel_and_gradient_are_never_nan(name, link, is_complex):
    map_ = PARAMETERIZATIONS[name].replace(link=link)
    start = jnp.asarray([0.4, 0.5])
    eigenvalues = -start if link == "continuous" else jnp.exp(-start)
    model = LinearRNN(
        map_,
        eigenvalues + 0.3j if is_complex else eigenvalues,
        time="continuous" if link == "continuous" else "discrete",
        key=jax.random.key(0),
    )
    ordinary = model.weight[1]

    @jax.jit
    @jax.vmap
    def evaluate(weight):
        def kernel(model):
            return model.kernel(7)

        def loss(model):
            return (kernel(model) ** 2).sum()

        at = eqx.tree_at(lambda m: m.weight, model, jnp.stack([weight, ordinary]))
        return kernel(at), eqx.filter_grad(loss)(at)

    signs = np.concatenate([WEIGHTS, -WEIGHTS])
    signs = signs[np.asarray(map_.decay(signs)) > 0]  # elsewhere the mode is unstable and truly overflows
    kernels, gradients = evaluate(jnp.asarray(signs))
    assert len(signs) >= 8 and np.isfinite(kernels).all()
    for leaf in jax.tree.leaves(eqx.filter(gradients, eqx.is_inexact_array)):
        assert np.isfinite(leaf).all(), signs[~np.isfinite(leaf).reshape(len(signs), -1).all(1)]


def test_an_overflowing_decay_is_an_empty_mode():
    map_ = PARAMETERIZATIONS["exp"]
    model = LinearRNN(map_, jnp.asarray([-0.5, -0.9]), time="continuous", key=jax.random.key(1))
    alone = (model.readout[:, 1:] * model.input_weight[1:].T)[0, 0] * map_.zero_order_hold(model.weight[1:], 1.0)[1]
    gone = eqx.tree_at(lambda m: m.weight, model, model.weight.at[0].set(98.0))
    assert jnp.isinf(map_.log_eigenvalue(98.0)) and jnp.isfinite(map_.log_multiplier(98.0))
    np.testing.assert_allclose(gone.kernel(5), alone * jnp.exp(-0.9 * jnp.arange(5)), rtol=1e-5)
