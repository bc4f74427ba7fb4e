"""A few channels at a time: the same outputs and derivatives as all at once, whatever fits in the cache."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import engine
from stablessm.engine import convolution
from stablessm.engine.groups import in_groups, largest_group
from tests.engine import reference


def test_a_group_divides_the_channels_and_fits():
    for channels in (1, 6, 7, 64):
        for cache in (0, 10, 35, 10**6):
            group = largest_group(channels, 10, cache)
            assert channels % group == 0 and (group == 1 or 10 * group <= cache)


@pytest.mark.parametrize("group", [1, 2, 6])
def test_channels_keep_to_themselves(group):
    rng = np.random.default_rng(0)
    own, series = jnp.asarray(rng.normal(size=6), jnp.float32), jnp.asarray(rng.normal(size=(2, 6, 3)), jnp.float32)

    def loss(own, series):
        outputs, ends = in_groups(lambda a, x: (a * x**2, a * x[:, -1]), group, own, series)
        return (outputs * jnp.arange(3)).sum() + (ends**2).sum(), (outputs, ends)

    slopes, (outputs, ends) = jax.jit(jax.grad(loss, (0, 1), has_aux=True))(own, series)
    last = series[..., -1]
    np.testing.assert_allclose(outputs, own[:, None] * series**2, rtol=1e-6)
    np.testing.assert_allclose(ends, (own * last).T, rtol=1e-6)
    np.testing.assert_allclose(
        slopes[0], (jnp.arange(3) * series**2).sum((0, 2)) + 2 * own * (last**2).sum(0), rtol=1e-5
    )
    ended = jnp.zeros_like(series).at[..., -1].set(2 * own**2 * last)
    np.testing.assert_allclose(slopes[1], 2 * own[:, None] * series * jnp.arange(3) + ended, rtol=1e-5)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("method", ["convolution", "chunked"])
def test_groups_change_nothing(monkeypatch, method):
    rng = np.random.default_rng(2)
    poles = engine.poles(-rng.uniform(0.01, 1, (6, 3)), rng.uniform(-3, 3, (6, 3)))
    args = [jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in ((6, 3), (2, 6, 29), (2, 6, 3))]

    def run(w, u, h):
        outputs, last = engine.filter_bank(poles, w, u, h + 0j, method=method, chunk=8)
        return (outputs**2).sum() + (last.real * last.imag).sum(), (outputs, last)

    found = []
    for platform, cache in (("gpu", 10**9), ("cpu", 3000)):  # all channels at once, and a few
        monkeypatch.setattr(jax, "default_backend", lambda platform=platform: platform)
        monkeypatch.setattr(convolution, "_CACHE", cache)
        found.append(jax.jit(jax.grad(run, (0, 1, 2), has_aux=True))(*args))
    for one, other in zip(*map(jax.tree.leaves, found), strict=True):
        assert reference.worst(one, other) < 2e-6
