"""Faults of published code that ours must not have: each is a test here or where the table says.

| fault | test |
|---|---|
| 0/0 at z = -1 for even lengths | test_mathematics, tests/engine/test_dplr (even lengths, gradients) |
| phase of lambda^k lost in float32 | tests/engine/test_powers |
| (e^z - 1)/z inexact near 0, NaN at 0 | tests/parameterizations/test_finite, tests/layers/test_kernel_everywhere |
| full pass and steps disagree across chunks | tests/layers/test_layer_laws, test_recurrent_mode |
| padding in the last state and in the mean | tests/models/test_network, tests/training/test_sampling |
| one key for all rows; the same masks every epoch | tests/training/test_sampling, here |
| decoding that starts from another batch's state | here |
| a weight that is never used | tests/layers/test_layer_laws (every gradient) |
| N^3 work a step; grids of modes by time | here |
| no resumption, no metrics, downloads at import | tests/training/test_runs |
| complex64 whatever the precision | tests/layers/test_layers_float64, test_recurrent_mode |
| the clip's zero gradient, as NaN in ratios | here |
| two conventions of looking ahead | tests/layers/test_bidirectional |
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.layers import S4D
from stablessm.layers.hippo import diagonal_eigenvalues, random_eigenvalues
from stablessm.layers.roles import roles
from stablessm.layers.s4 import s4
from stablessm.measurements.ratios import gradient_to_weight
from stablessm.models import Block, Network
from stablessm.training.batches import Examples
from stablessm.training.loop import training
from stablessm.training.recipe import Recipe, transformation

BEST, KEY = PARAMETERIZATIONS["best"], jax.random.key(0)


def work(layer):
    """Operations of one step, from the program before it is compiled."""
    state, x = layer.initial_state(), jnp.zeros(layer.inputs)
    arrays, rest = eqx.partition(layer, eqx.is_array)
    step = jax.jit(lambda arrays, state, x: eqx.combine(arrays, rest).step(state, x))
    return step.lower(arrays, state, x).cost_analysis()["flops"]


def test_a_step_takes_as_many_operations_as_there_are_modes():
    sizes = [work(s4(BEST, states=states, inputs=2, key=KEY)) for states in (64, 128)]
    assert sizes[1] < 2.2 * sizes[0]


def test_no_grid_of_modes_by_time_is_made():
    """16 channels of 64 modes over 4096 steps are 32 MB a grid of complex numbers."""
    layer = S4D(BEST, diagonal_eigenvalues("lin", 128), inputs=16, key=KEY)
    program = jax.jit(lambda one: one.channel_kernels(4096)).lower(layer).compile()
    assert program.memory_analysis().temp_size_in_bytes < 16 * 64 * 4096 * 8 / 3


def test_every_epoch_has_its_own_masks_and_decoding_begins_at_zero():
    layer = S4D(BEST, diagonal_eigenvalues("lin", 4), inputs=2, key=KEY)
    network = Network([Block(layer, key=KEY)], purpose="classification", outputs=2, key=KEY)
    rows = Examples(np.zeros((4, 3, 1), np.float32), np.zeros(4, np.int32))
    run = training(network, lambda *_: jnp.float32(0), rows, Recipe(steps=9, batch=2), key=KEY)
    masks = {tuple(jax.random.key_data(run.batch(step)[1]).tolist()) for step in range(6)}
    assert len(masks) == 6  # of three epochs
    assert all((np.asarray(leaf) == 0).all() for leaf in jax.tree.leaves(network.initial_state()))


def test_clip_has_no_gradient_above_its_bound_and_the_ratio_is_zero():
    """Where the floor holds the decay its weight is not trained; documented, and 0 is no NaN."""
    layer = S4D(PARAMETERIZATIONS["clip"], np.array([-0.5 + 1j, -0.3 + 2j]), inputs=1, key=KEY)
    held = eqx.tree_at(lambda one: one.weight, layer, layer.weight.at[0, 0].set(1.0))
    assert float(held.eigenvalues()[0, 0].real) == pytest.approx(-1e-4)
    gradient = eqx.filter_jit(eqx.filter_grad(lambda one: (one.channel_kernels(9) ** 2).sum()))(held)
    assert gradient.weight[0, 0] == 0 and gradient.weight[0, 1] != 0
    ratios = np.asarray(gradient_to_weight(gradient.weight, held.weight))
    assert np.isfinite(ratios).all() and ratios[0, 0] == 0


def test_a_complex_weight_is_two_reals_and_goes_downhill():
    """|z - (1 + 2i)|^2 from 0 at the rate .1: .2 + .4i; the gradient of a complex number would be conjugated."""
    pair, optimizer = jnp.zeros(2), optax.sgd(0.1)
    gradient = jax.grad(lambda pair: jnp.abs(jax.lax.complex(pair[0], pair[1]) - (1 + 2j)) ** 2)(pair)
    updates, _ = optimizer.update(gradient, optimizer.init(pair))
    np.testing.assert_allclose(optax.apply_updates(pair, updates), [0.2, 0.4], rtol=1e-6)
    layer = s4(BEST, states=4, inputs=1, key=KEY)
    assert not any(jnp.iscomplexobj(leaf) for leaf in jax.tree.leaves(layer))


def abscissa(layer):
    """The largest real part of the eigenvalues of Lambda - P Q* of all states."""
    system = {name: np.asarray(one[0], complex) for name, one in layer.system()._asdict().items() if one.ndim == 2}
    full = {name: np.concatenate([one, one.conj()]) for name, one in system.items()}
    return np.linalg.eigvals(np.diag(full["eigenvalues"]) - np.outer(full["left"], full["right"].conj())).real.max()


def test_a_tied_low_rank_part_keeps_the_left_half_plane_and_an_untied_one_leaves_it():
    for seed in range(20):
        layer = s4(BEST, states=8, inputs=1, key=jax.random.key(seed))
        other = 3 * jax.random.normal(jax.random.key(seed), layer.low_rank.shape)
        assert abscissa(eqx.tree_at(lambda one: one.low_rank, layer, other)) < 0
    untied = s4(BEST, states=8, inputs=1, tied=False, step_sizes=(0.1, 0.1), key=KEY)
    assert abscissa(untied) < 0  # it starts at P
    left = eqx.tree_at(lambda one: one.untied, untied, -untied.low_rank)
    assert abscissa(left) > 1
    grown = np.abs(eqx.filter_jit(lambda one: one.channel_kernels(40))(left))
    assert grown[0, -10:].max() > 1e6 * grown[0, 1:10].max()
    far = np.asarray(eqx.filter_jit(lambda one: one.channel_kernels(400))(left))[0]
    np.testing.assert_allclose(far[:20], eqx.filter_jit(lambda one: one.channel_kernels(20))(left)[0], rtol=1e-4)
    assert not np.isnan(far).any() and np.isinf(far[-100:]).all()


def test_frozen_parts_stay_and_have_no_part_in_the_clipped_norm():
    layer = s4(BEST, states=4, inputs=2, frozen=["low_rank", "step"], key=KEY)
    found = roles(layer)
    assert (found.low_rank, found.step_weight, found.weight, found.input_weight, found.readout) == (
        "frozen", "frozen", "recurrent", "recurrent", "rest")  # fmt: skip
    recipe = Recipe(steps=9, warmup=0.0, clip=1.0)
    optimizer = transformation(recipe, layer)
    gradient = jax.tree.map(jnp.ones_like, layer)
    loud = eqx.tree_at(lambda one: one.low_rank, gradient, 1e6 * gradient.low_rank)
    update = eqx.filter_jit(lambda one: optimizer.update(one, optimizer.init(layer), layer)[0])
    updates = [update(one) for one in (gradient, loud)]
    for one in updates:
        assert (one.low_rank == 0).all() and (one.step_weight == 0).all() and (one.input_weight != 0).all()
    np.testing.assert_array_equal(updates[0].readout, updates[1].readout)
    assert roles(S4D(BEST, [-1.0], inputs=1, frozen=("drive",), key=KEY)).input_weight == "frozen"
    with pytest.raises(ValueError, match="`frozen` must be some of eigenvalues, low_rank, drive, step, but got 'A'"):
        s4(BEST, states=4, inputs=2, frozen=["A"], key=KEY)


def test_random_eigenvalues_are_the_left_half_of_the_circular_law():
    drawn = random_eigenvalues(4000, key=KEY)
    assert (drawn.real < 0).all() and np.mean(np.abs(drawn) ** 2) == pytest.approx(0.5, abs=0.02)
    entries = np.random.default_rng(0).normal(size=(200, 200)) / 200**0.5
    assert np.mean(np.abs(np.linalg.eigvals(entries)) ** 2) == pytest.approx(0.5, abs=0.03)
    with pytest.raises(ValueError, match="must be even, but got 3"):
        random_eigenvalues(3, key=KEY)
