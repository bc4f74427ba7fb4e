"""Blocks and networks: two modes that agree, dropout tied over time, padding that does not count, causal generation."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LRU, S4D
from stablessm.layers.roles import layers_of, roles
from stablessm.models import Block, Network, Stack
from stablessm.models.norms import ScalarLayerNorm
from stablessm.models.pooling import pooled, pooled_length

KEY = jax.random.key(0)
WIDTH, TIME = 4, 9


def layer(kind=S4D, key=KEY):
    link = "continuous" if kind is S4D else "exponential"
    map_ = PARAMETERIZATIONS["exp"].replace(link=link)
    poles = -jnp.array([0.1, 0.5]) if kind is S4D else jnp.array([0.9, 0.5])
    return kind(map_, poles, inputs=WIDTH, key=key)


def network(purpose, *, outputs=3, tokens=0, **block):
    keys = jax.random.split(KEY, 5)
    blocks = [Block(layer(kind, keys[0]), key=key, **block) for kind, key in zip((S4D, LRU), keys[1:3], strict=True)]
    return Network(blocks, purpose=purpose, outputs=outputs, inputs=2, tokens=tokens, key=keys[3])


def values(seed=1):
    return jax.random.normal(jax.random.key(seed), (TIME, 2))


def stepped(model, state, x):
    return jax.lax.scan(lambda state, one: model.step(state, one), state, x)


@pytest.mark.parametrize(
    ("norm", "mixing", "residual"), [("pre", "glu", True), ("post", "linear", True), ("none", "none", False)]
)
def test_a_block_steps_as_it_runs_and_any_split_of_it_is_the_same(norm, mixing, residual):
    block = Block(layer(), norm=norm, mixing=mixing, residual=residual, key=KEY)
    x = jax.random.normal(KEY, (TIME, WIDTH))

    @eqx.filter_jit
    def both(block, x):
        first, middle = block(x[:4])
        second, _ = block(x[4:], middle)
        return block(x)[0], stepped(block, block.initial_state(), x)[1], jnp.concatenate([first, second])

    whole, *others = both(block, x)
    for other in others:
        np.testing.assert_allclose(other, whole, atol=2e-6)
    assert (jnp.abs(whole - x).max() < 5) == residual or norm == "none"
    with pytest.raises(ValueError, match="no kernel"):
        block.kernel(3)


def test_one_mask_of_dropout_holds_for_a_whole_series_and_another_for_the_next():
    block = Block(layer(), norm="none", mixing="none", residual=False, dropout=0.5, key=KEY)
    x = jax.random.normal(KEY, (TIME, WIDTH))
    run = eqx.filter_jit(lambda key: block(x, key=key)[0] == 0)
    dropped = np.stack([run(key) for key in jax.random.split(KEY, 12)])
    assert (dropped == dropped[:, :1]).all()  # at all times
    assert dropped.any() and not dropped.all() and len({one.tobytes() for one in dropped[:, 0]}) > 3
    assert not (eqx.filter_jit(lambda: block(x)[0])() == 0).any()


def test_a_classifier_averages_over_what_is_no_padding():
    model = network("classification")
    run = eqx.filter_jit(lambda x, length: model(x, length=length)[0])
    x = values()
    padded = x.at[6:].set(1e6)
    np.testing.assert_allclose(run(padded, 6), eqx.filter_jit(lambda: model(x[:6])[0])(), rtol=1e-4, atol=1e-5)
    assert jnp.abs(run(padded, 9) - run(padded, 6)).max() > 1e-3
    np.testing.assert_array_equal(run(x, 0), model.decoder(jnp.zeros(WIDTH)))  # of nothing, and not NaN
    with pytest.raises(ValueError, match="whole series"):
        model.step(model.initial_state(), x[0])


@pytest.mark.parametrize("tokens", [0, 7])
def test_a_network_that_generates_sees_only_what_came_before(tokens):
    model = network("language" if tokens else "next_value", outputs=tokens or 2, tokens=tokens)
    x = jax.random.randint(KEY, (TIME,), 0, tokens) if tokens else values()
    later = x.at[5].set((x[5] + 1) % tokens if tokens else x[5] + 1)

    @eqx.filter_jit
    def run(model, x, later):
        state, first = model.start()
        return model(x)[0], model(later)[0], first, stepped(model, state, x)[1]

    y, other, first, steps = run(model, x, later)
    assert y.shape == (TIME, tokens or 2)
    np.testing.assert_allclose(other[:6], y[:6], atol=1e-5)
    assert jnp.abs(other[6] - y[6]).max() > 1e-4
    np.testing.assert_allclose(jnp.concatenate([first[None], steps[:-1]]), y, atol=1e-5)  # decoding shifts nothing
    if tokens:  # token 0 is the start, the vector 0: its row of the embedding is not read
        blank = eqx.tree_at(lambda one: one.encoder.weight, model, model.encoder.weight.at[0].set(9.0))
        assert (x == 0).any()
        np.testing.assert_array_equal(run(blank, x, later)[0], y)
        np.testing.assert_array_equal(run(blank, x, later)[3], steps)
    with pytest.raises(ValueError, match="begins anew"):
        model(x, model.initial_state())


def test_a_regression_goes_on_from_its_state():
    model, x = network("regression"), values()

    @eqx.filter_jit
    def run(model, x):
        first, middle = model(x[:4])
        return model(x)[0], jnp.concatenate([first, model(x[4:], middle)[0]])

    whole, parted = run(model, x)
    np.testing.assert_allclose(parted, whole, atol=2e-6)
    with pytest.raises(ValueError, match="does not generate"):
        model.start()


def test_roles_are_what_the_layers_say_whatever_they_are_wrapped_in():
    model = network("regression")
    found = roles(model)
    s4d, lru = found.blocks[0].layer, found.blocks[1].layer
    assert (s4d.weight, s4d.step_weight, s4d.readout, lru.weight) == ("recurrent", "step", "rest", "recurrent")
    assert found.encoder.weight == found.blocks[0].mixing.weight == found.decoder.bias == "rest"
    assert jax.tree.structure(found) == jax.tree.structure(eqx.filter(model, eqx.is_inexact_array))
    assert roles(Stack([layer()])).layers[0].weight == "recurrent"
    assert [type(one).__name__ for one in layers_of(model)] == ["Block", "S4D", "Block", "LRU"]


def test_bad_shapes_get_a_sentence():
    with pytest.raises(ValueError, match="glu, linear, none"):
        Block(layer(), mixing="mlp", key=KEY)
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        Block(layer(), dropout=1.0, key=KEY)
    block = Block(layer(), key=KEY)
    for purpose, tokens, words in (("speech", 0, "classification"), ("language", 0, "vocabulary")):
        with pytest.raises(ValueError, match=words):
            Network([block], purpose=purpose, outputs=2, tokens=tokens, key=KEY)
    with pytest.raises(ValueError, match="needs blocks"):
        Network([], purpose="regression", outputs=2, key=KEY)


def test_a_stack_of_any_layers_has_all_their_eigenvalues():
    layers = [layer(S4D), layer(LRU)]
    each = [np.asarray(one.eigenvalues()) for one in layers]
    assert each[0].ndim != each[1].ndim
    np.testing.assert_array_equal(Stack(layers).eigenvalues(), np.concatenate([one.ravel() for one in each]))


def test_means_over_a_few_steps_are_of_the_steps_that_count():
    y = jax.random.normal(KEY, (7, 2))
    exact = np.stack([np.asarray(y)[start : start + 3].mean(0) for start in (0, 3, 6)])
    np.testing.assert_allclose(pooled(y, 3), exact, atol=1e-6)
    cut = pooled(y, 3, jnp.int32(5))
    np.testing.assert_allclose(cut[:2], pooled(y[:5], 3), atol=1e-6)
    assert (cut[2] == 0).all() and pooled_length(jnp.int32(5), 3) == 2 and pooled(y, 1) is y


def test_a_classifier_that_pools_reads_no_padding_and_nothing_else_may_pool():
    block = Block(layer(), pool_steps=4, key=KEY)
    model = Network([block, Block(layer(), key=KEY)], purpose="classification", outputs=3, inputs=2, key=KEY)
    x = values()
    padded = eqx.filter_jit(model)(jnp.concatenate([x[:6], jnp.full((3, 2), 9.0)]), length=6)[0]
    np.testing.assert_allclose(padded, model(x[:6])[0], atol=2e-6)
    assert block(jnp.ones((TIME, WIDTH)))[0].shape == (3, WIDTH) and not block.is_causal
    for ask in (block.initial_state, lambda: block.step(None, jnp.ones(WIDTH)), lambda: block(jnp.ones((2, WIDTH)), 0)):
        with pytest.raises(ValueError, match="no steps"):
            ask()
    for purpose in ("regression", "next_value"):
        with pytest.raises(ValueError, match="block 0 pools"):
            Network([block], purpose=purpose, outputs=3, inputs=2, key=KEY)
    with pytest.raises(ValueError, match="`pool_steps`"):
        Block(layer(), pool_steps=0, key=KEY)


def test_a_scalar_norm_has_one_gain_and_one_shift():
    block = Block(layer(), norm="post_scalar", mixing="none", residual=False, key=KEY)
    assert sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(block.norm, eqx.is_inexact_array))) == 2
    block = eqx.tree_at(lambda one: (one.norm.gain, one.norm.shift), block, (jnp.array(2.0), jnp.array(0.5)))
    x = jax.random.normal(KEY, (TIME, WIDTH))
    inner = jax.nn.gelu(layer()(x)[0])
    expected = 2 * (inner - inner.mean(1, keepdims=True)) / np.sqrt(inner.var(1, keepdims=True) + 1e-5) + 0.5
    np.testing.assert_allclose(block(x)[0], expected, rtol=1e-4, atol=1e-5)
    for norm, kind in (("pre_scalar", ScalarLayerNorm), ("pre", eqx.nn.LayerNorm), ("post_scalar", type(None))):
        assert isinstance(network("regression", norm=norm).norm, kind)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_block_that_widens_fills_up_with_zeros_and_the_next_one_takes_them_all(norm):
    wide = Block(layer(), outputs=6, norm=norm, key=KEY)
    silent = eqx.tree_at(lambda one: (one.mixing.weight, one.mixing.bias), wide, replace_fn=jnp.zeros_like)
    x = jax.random.normal(KEY, (TIME, WIDTH))
    filled = np.pad(x, ((0, 0), (0, 2)))  # half of a gate of zeros is zero
    expected = (
        filled
        if norm == "pre"
        else (filled - filled.mean(1, keepdims=True)) / np.sqrt(filled.var(1, keepdims=True) + 1e-5)
    )
    np.testing.assert_allclose(silent(x)[0], expected, atol=1e-5)
    np.testing.assert_allclose(stepped(wide, wide.initial_state(), x)[1], wide(x)[0], atol=2e-6)
    second = Block(S4D(layer().parameterization, -jnp.array([0.1, 0.5]), inputs=6, key=KEY), norm=norm, key=KEY)
    model = Network([wide, second], purpose="classification", outputs=3, inputs=2, key=KEY)
    assert model(values())[0].shape == (3,) and (wide.outputs, model.decoder.in_features) == (6, 6)
    with pytest.raises(ValueError, match=r"\(6, 6\), \(4, 6\)"):
        Network([second, wide], purpose="classification", outputs=3, inputs=2, key=KEY)
    for outputs, mixing in ((3, "glu"), (6, "none")):
        with pytest.raises(ValueError, match="`outputs`"):
            Block(layer(), outputs=outputs, mixing=mixing, key=KEY)
