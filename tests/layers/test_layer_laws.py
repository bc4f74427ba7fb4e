"""Laws of every registered layer: a layer joins them by being registered and written out in `references`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import REFERENCES

from stablessm import PARAMETERIZATIONS
from stablessm.layers import LAYERS, Layer
from stablessm.layers.roles import roles
from stablessm.parameterizations.links import LINKS

KEY = jax.random.key(0)
CASES = [("best", "continuous", False), ("exp", "exponential", True), ("softplus", "continuous", True),
         ("tanh", "one-minus", False), ("direct", "one-minus", True)]  # fmt: skip
IDS = ["-".join(map(str, case)) for case in CASES]
LENGTH = 33


def eigenvalues(link, is_complex, states=5):
    decays = jnp.geomspace(0.02, 0.9, states)
    real = -decays if link == "continuous" else jnp.exp(-decays)
    if not is_complex:
        return real
    phase = jnp.linspace(0.1, 3.0, states)
    return jax.lax.complex(real, phase) if link == "continuous" else real * jnp.exp(1j * phase)


def fitting(kind, inputs):
    """Attention turns features in pairs."""
    return inputs + inputs % 2 if kind == "attention" else inputs


SMALL = {"attention": {"context": 7}, "hyena": {"context": 7, "octaves": 2, "hidden": 8},
         "sgconv": {"context": 7, "size": 2}}  # fmt: skip


def make(kind, case=CASES[0], *, states=5, inputs=3, **more):
    more = SMALL.get(kind, {}) | more
    if not LAYERS[kind].takes_map:
        return LAYERS[kind].build(inputs=fitting(kind, inputs), key=KEY, **more)
    name, link, is_complex = case
    map_ = PARAMETERIZATIONS[name].replace(link=link)
    layer = LAYERS[kind].build(map_, eigenvalues(link, is_complex, states), inputs=inputs, key=KEY, **more)
    assert isinstance(layer, Layer)
    if getattr(layer, "bias", None) is None:
        return layer
    return eqx.tree_at(lambda one: one.bias, layer, 0.3 * jax.random.normal(KEY, layer.bias.shape))


def series(length=LENGTH, inputs=3, seed=1):
    return jax.random.normal(jax.random.key(seed), (length, inputs))


@eqx.filter_jit
def run(layer, *many):
    return [layer(x)[0] for x in many]


@eqx.filter_jit
def everything(layer, x):
    """(y, state) of the full pass, the steps one by one and two parts, and the gradient of |y|^2, in one program."""

    def loss(layer):
        y, state = layer(x)
        return (y**2).sum(), (y, state)

    gradient, whole = eqx.filter_grad(loss, has_aux=True)(layer)
    first, middle = layer(x[:16])
    second, end = layer(x[16:], middle)
    last, steps = jax.lax.scan(lambda state, one: layer.step(state, one), layer.initial_state(), x)
    return [whole, (steps, last), (jnp.concatenate([first, second]), end)], gradient


def legal(kind, links):
    return [link for link in links if link in LAYERS[kind].links]


every = pytest.mark.parametrize("kind", LAYERS)
MAPPED = sorted((kind for kind in LAYERS if LAYERS[kind].takes_map), key=lambda kind: -len(LAYERS[kind].links))
BASELINES = [kind for kind in LAYERS if not LAYERS[kind].takes_map]
STEPPING = [kind for kind in LAYERS if not LAYERS[kind].looks_ahead]
NO_KERNEL = ("selective", "gated_ssm", "hyena")  # though they have eigenvalues
LEGAL = [(kind, case) for place, kind in enumerate(MAPPED, 1) for case in CASES[place % 5 :] + CASES[: place % 5]
         if legal(kind, [case[1]])]  # fmt: skip


def crossed(kinds):
    """Kinds with every case they are defined for, of which make test runs one each."""
    cases = [(kind, case) for kind, case in LEGAL if kind in kinds]
    ids = ["-".join(map(str, (kind, *case))) for kind, case in cases]
    return lambda test: pytest.mark.matrix(5)(pytest.mark.parametrize(("kind", "case"), cases, ids=ids)(test))


@crossed(STEPPING)
def test_full_pass_equals_steps_the_reference_and_any_split_and_its_gradient_reaches_every_weight(kind, case):
    keeps_the_laws(make(kind, case), kind)


@pytest.mark.matrix(3)
@pytest.mark.parametrize(
    "more", [{"context": None, "chunk": 6}, {"context": None, "chunk": 40}, {"context": 2}], ids=str
)
def test_attention_in_chunks_and_in_the_smallest_window(more):
    keeps_the_laws(make("attention", inputs=4, heads=2, **more), "attention")


def keeps_the_laws(layer, kind):
    x = series(inputs=layer.inputs)
    exact = REFERENCES[kind](layer, np.asarray(x, float))
    ((whole, last), *others), gradient = everything(layer, x)
    assert whole.shape == (LENGTH, layer.outputs)
    size = 1 + np.abs(exact).max()
    np.testing.assert_allclose(whole, exact, atol=2e-6 * size)
    for y, state in others:
        np.testing.assert_allclose(y, whole, atol=1e-6 * size)
        for one, two in zip(jax.tree.leaves(state), jax.tree.leaves(last), strict=True):
            # a state that forgets little keeps the rounding of the multiplier of every step
            np.testing.assert_allclose(one, two, atol=LENGTH * 2.0**-24 * (1 + np.abs(two).max()))
    for leaf in jax.tree.leaves(gradient):
        assert np.isfinite(leaf).all() and np.abs(leaf).max() > 0


@every
@pytest.mark.matrix(5)
@pytest.mark.parametrize(("states", "inputs", "length"), [(1, 1, 1), (1, 3, 2), (4, 1, 1), (3, 2, 0)])
def test_smallest_sizes(kind, states, inputs, length):
    layer = make(kind, states=states, inputs=inputs)
    x = series(length, inputs := layer.inputs)
    kernel = (lambda one: one.kernel(length)) if layer.is_linear else lambda one: None
    # a state other than the first, if there is one: nothing happens to it in no time
    before = None if LAYERS[kind].looks_ahead else jax.tree.map(jnp.ones_like, layer.initial_state())
    both = eqx.filter_jit(lambda one, x: (one(x)[0], jax.vmap(one)(x[None][:0]), kernel(one), one(x[:0], before)[1]))
    y, (nobody, states_of_nobody), found, after = both(layer, x)
    if before is not None:
        jax.tree.map(np.testing.assert_array_equal, after, before)
    assert y.shape == (length, layer.outputs) and inputs == layer.inputs
    np.testing.assert_allclose(y, REFERENCES[kind](layer, np.asarray(x, float)), atol=2e-6)
    assert nobody.shape == (0, length, layer.outputs)
    assert all(leaf.shape[0] == 0 for leaf in jax.tree.leaves(states_of_nobody))
    assert found is None or found.shape == (length, layer.outputs, inputs)


@pytest.mark.parametrize("kind", BASELINES)
def test_layers_without_eigenvalues_keep_the_same_laws(kind):
    test_full_pass_equals_steps_the_reference_and_any_split_and_its_gradient_reaches_every_weight(kind, None)
    layer = make(kind)
    assert layer.eigenvalues().shape == (0,) and layer.is_linear == (kind == "sgconv")
    if layer.is_linear:
        impulse = jnp.zeros((9, 3)).at[0, 1].set(1.0)
        np.testing.assert_allclose(layer.kernel(9)[..., 1], layer(impulse)[0], atol=1e-6)
    else:
        with pytest.raises(ValueError, match="no kernel"):
            layer.kernel(3)
    with pytest.raises(ValueError, match="takes no map"):
        LAYERS[kind].build(PARAMETERIZATIONS["exp"], -jnp.ones(2), inputs=4, key=KEY)


@pytest.mark.matrix(3)
@pytest.mark.parametrize("kind", STEPPING)
def test_no_output_knows_a_later_input(kind):
    layer = make(kind, next((case for case in CASES[1:] if legal(kind, [case[1]])), None))
    x = series(inputs=layer.inputs)
    y, later = run(layer, x, x.at[16].add(1.0))
    # a transform mixes the roundings of all times, but no more than those
    np.testing.assert_allclose(later[:16], y[:16], rtol=0, atol=8 * 2.0**-23 * np.abs(y).max())
    assert np.abs(later[16] - y[16]).max() > 1e-3


@crossed([kind for kind in STEPPING if kind not in NO_KERNEL])
def test_superposition_and_kernel(kind, case):
    layer = make(kind, case, **({"activation": "identity"} if kind == "ssm" else {}))
    assert layer.is_linear
    x, z = series(), series(seed=2)
    silent, *outputs = run(layer, jnp.zeros_like(x), x, z, 2 * x - 3 * z)
    one, two, both = (y - silent for y in outputs)
    scale = np.abs(both).max()
    np.testing.assert_allclose(both, 2 * one - 3 * two, atol=4e-6 * scale)
    kernel = np.asarray(eqx.filter_jit(lambda one: one.kernel(LENGTH))(layer), float)
    convolved = [sum(kernel[k] @ np.asarray(x[t - k], float) for k in range(t + 1)) for t in range(LENGTH)]
    np.testing.assert_allclose(one, convolved, atol=4e-6 * scale)


def others(layer):
    """All weights but those of poles and step sizes."""
    rest = jax.tree.map(lambda role: role == "rest", roles(layer))
    return jax.tree.leaves(eqx.filter(eqx.filter(layer, eqx.is_inexact_array), rest))


@pytest.mark.matrix(4)
@pytest.mark.parametrize(("kind", "link"), [(kind, link) for link in LINKS for kind in MAPPED if legal(kind, [link])])
def test_every_map_starts_at_the_same_eigenvalues_with_the_same_other_weights(kind, link):
    names = [name for name, one in PARAMETERIZATIONS.items() if link in one.links]
    layers = [make(kind, (name, link, False)) for name in names]
    for layer in layers:
        start = jnp.broadcast_to(eigenvalues(link, False), layer.eigenvalues().shape)  # of every channel
        np.testing.assert_allclose(layer.eigenvalues(), start, rtol=2e-6)
        for one, two in zip(others(layer), others(layers[0]), strict=True):
            np.testing.assert_array_equal(one, two)


def test_every_registered_layer_is_written_out():
    assert set(REFERENCES) == set(LAYERS)


def test_a_layer_with_eigenvalues_needs_a_map():
    with pytest.raises(ValueError, match="needs a map"):
        LAYERS["s5"].build(inputs=3, key=KEY)


def test_features_that_do_not_divide_into_heads_are_refused():
    for inputs, heads in ((6, 4), (3, 1), (4, 0)):
        with pytest.raises(ValueError, match="even number of features"):
            LAYERS["attention"].build(inputs=inputs, heads=heads, key=KEY)
    for options in ({"context": 0}, {"context": 3, "chunk": 4}, {"chunk": -1}):
        with pytest.raises(ValueError, match=r"`context`|`chunk`"):
            LAYERS["attention"].build(inputs=4, key=KEY, **options)
