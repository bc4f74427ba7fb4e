"""Networks side by side: tables of settings, and cells that are what their own declaration would train."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS, run_sweep
from stablessm.layers.dlr import Factor
from stablessm.layers.dlr_starts import fourier
from stablessm.layers.hippo import random_eigenvalues
from stablessm.measurements.comparison import ComparisonSettings
from stablessm.measurements.comparison_program import fit_of, input_gradients
from stablessm.measurements.kernel_sizes_program import sizes_of
from stablessm.measurements.step_memory_program import step_memory
from stablessm.training.batches import Examples

SETTINGS = {
    "options": {"length": 8, "validation": 4, "test": 6}, "data": "shift", "layer": ["dlr"], "depth": 1, "width": 4,
    "states": 8, "steps": 3, "batch": 2, "records": 2, "norm": "post_scalar", "mixing": "linear",
    "tasks": {"shift": {"reported": 0.5}, "sort": {"data": "sort", "steps": 2}},
    "models": {"dlr": {"parameterization": "square"}, "attention": {"layer": ["attention"], "norm": "pre"}},
}  # fmt: skip


def test_a_model_replaces_what_a_task_has_replaced_and_unknown_names_are_refused():
    settings = ComparisonSettings(**{**SETTINGS, "models": {"longer": {"steps": 9}}})
    one = settings.of(task="sort", model="longer")
    assert (one.data, one.steps, one.width) == ("sort", 9, 4) and settings.of(task="sort").steps == 2
    with pytest.raises(ValueError, match="'reverse' has no table"):
        settings.of(task="reverse")
    for given, words in (
        ({"tasks": {"a": {"depht": 2}}}, "depht"),
        ({"tasks": {"a": {"depth": 0}}}, "depth"),
        ({"tasks": {"a": {}, "b": {"data": "shakespeare"}}}, "one metric"),
    ):
        with pytest.raises(ValueError, match=words):
            ComparisonSettings(**{**SETTINGS, **given})


@pytest.mark.slow
def test_a_cell_holds_what_its_own_training_has(tmp_path):
    axes = {"task": ["shift"], "model": ["dlr"], "seed": [0]}
    spec = {"name": "few", "measurement": "comparison", "axes": axes, "settings": SETTINGS}
    found = run_sweep(spec, out=tmp_path).squeeze()
    task = fit_of(ComparisonSettings(**SETTINGS).of(task="shift", model="dlr")).task
    assert found["steps"] == 3 and found["reported_score"] == 0.5
    assert found["trivial_score"] == np.float32(task.trivial[1])
    assert found["loss"].values[[0, -1]].tolist() == [found["initial_loss"], found["final_loss"]]
    assert found["test_r2"].item() == pytest.approx(1 - found["test_loss"].item() / task.spread["test"], abs=1e-5)
    # encoder 3 -> 4; W, D, decay and phase; mixing; scalar norm; decoder to 8 shifts
    assert found["parameters"] == 16 + (4 * 8 * 2 + 4 + 8 + 8) + 20 + 2 + 5 * 8


def test_factors_of_a_dlr_start_where_their_map_puts_them():
    starts = {}
    for name in ("square", "exp"):
        fit = fit_of(ComparisonSettings(**{**SETTINGS, "parameterization": name}).of(task="shift"))
        start = jax.tree.map(lambda leaf: leaf[None], fit.start_of(np.uint32(3)))
        (factor,) = fit.with_parameters(fit.parameters(start, 0)).blocks[0].layer.factors
        np.testing.assert_allclose(PARAMETERIZATIONS[name].decay(factor.weight), 5e-6, rtol=1e-4)
        starts[name] = fit.start_of(np.uint32(3))
    assert eqx.tree_equal(starts["square"], starts["exp"])


def test_sizes_of_gradients_are_those_of_the_jacobian():
    layer = fourier(PARAMETERIZATIONS["exp"], 4, inputs=2, damping=0.3, key=jax.random.key(1))
    lags, length = np.array([0, 1, 4, 5]), 6

    def kernels(readout, weight, phase):
        (one,) = layer.factors
        new = Factor(weight, phase, readout, one.parameterization, one.grid)
        return eqx.tree_at(lambda one: one.factors, layer, (new,)).channel_kernels(length)

    (factor,) = layer.factors
    at = factor.readout, factor.weight, factor.phase
    by_read, by_weight, by_phase = jax.jit(jax.jacobian(kernels, (0, 1, 2)))(*at)
    found = jax.jit(lambda layer: sizes_of(layer, lags, length))(layer)
    one_channel = np.sqrt((np.asarray(by_read)[0, lags, 0] ** 2).sum(-1))  # (lags, poles): the direction is free
    np.testing.assert_allclose(found["kernel_by_readout"], np.sqrt((one_channel**2).mean(1)), rtol=1e-5)
    # lambda = exp(-e^w + i theta): a step of w and one of theta are steps of lambda of the sizes s|lambda| and |lambda|
    decay = 0.15
    size = np.hypot(by_weight / decay, by_phase)[:, lags] / np.exp(-decay)
    np.testing.assert_allclose(found["kernel_by_pole"], np.sqrt((size**2).mean((0, 2))), rtol=1e-4, atol=1e-6)
    bare = kernels(*at) - np.eye(1, length) * np.asarray(layer.feedthrough)[:, None]
    np.testing.assert_allclose(found["kernel"], np.sqrt((np.asarray(bare)[:, lags] ** 2).mean(0)), rtol=1e-5)


@pytest.mark.slow
def test_the_step_of_attention_holds_memory_by_the_square_of_the_length_and_that_of_a_dlr_in_proportion():
    options = {"validation": 2, "test": 2}
    more = {"attention": {"context": 4096}}
    settings = ComparisonSettings(**{**SETTINGS, "options": options, "batch": 1, "width": 2, "layer_options": more})

    def held(length, model):
        program = step_memory({"length": length, "model": model}, settings)
        return float(program.measure({}, None, 0)["step_memory"])

    assert 3.5 < held(1024, "attention") / held(512, "attention") < 4.2
    assert 1 < held(1024, "dlr") / held(512, "dlr") < 2.1


IMAGES = {
    "data": "digits", "options": {"sequence": "rows"}, "layer": ["s4"], "depth": 1, "width": 3, "states": 4, "steps": 2,
    "batch": 2, "records": 1, "evaluated": 12, "series_lengths": [1, 4, 11],
    "models": {"hippo": {"start": "legs"}, "grows": {"start": "gaussian", "parameterization": "direct"}},
}  # fmt: skip


def test_gradients_by_the_inputs_are_rows_of_the_jacobian():
    model = fit_of(ComparisonSettings(**IMAGES).of(model="hippo")).model
    rows = Examples(jax.random.normal(jax.random.key(0), (9, 4, 8)), jnp.zeros(9))
    first, every = input_gradients(model, rows, (1, 4, 6), key=jax.random.key(1))
    series = [jnp.concatenate([rows.inputs[place], rows.inputs[(place + 1) % 9]])[:6] for place in range(8)]

    def hidden(x):
        y = jax.vmap(model.encoder)(x)
        for block in model.blocks:
            y, _ = block(y)
        return y

    whole = jax.jit(jax.vmap(jax.jacrev(hidden)))(jnp.stack(series))  # (8, 6, 3, 6, 8)
    signs = jax.vmap(lambda key: jax.random.rademacher(key, (3,), whole.dtype))(jax.random.split(jax.random.key(1), 8))
    squares = np.square(np.einsum("ntwsf,nw->ntsf", whole, signs)).sum(-1).mean(0)
    np.testing.assert_allclose(first, np.sqrt(squares[[0, 3, 5], 0]), rtol=1e-4)
    np.testing.assert_allclose(every, np.sqrt(squares[[0, 3, 5]].sum(1)), rtol=1e-4)
    assert every[0] == first[0] and (every >= first).all()


def test_a_start_that_grows_is_for_direct_alone_and_its_gradients_are_recorded(tmp_path):
    drawn = random_eigenvalues(400, growing=True, key=jax.random.key(0))
    assert 0.35 < (drawn.real > 0).mean() < 0.65 and (drawn.imag > 0).all() and (abs(drawn) <= 1).all()
    axes = {"model": ["grows"], "seed": [0]}
    found = run_sweep({"name": "few", "measurement": "comparison", "axes": axes, "settings": IMAGES}, out=tmp_path)
    gradients = found["first_input_gradient"].squeeze()
    assert gradients.dims == ("stage", "series_length") and (gradients > 0).all() and not np.isnan(gradients).any()
    with pytest.raises(ValueError, match="must lie in"):
        fit_of(ComparisonSettings(**{**IMAGES, "parameterization": "exp"}).of(model=None).model_copy(
            update={"start": "gaussian"}))  # fmt: skip
    for lengths, words in (([4, 1], "ascend"), ([0], "series_lengths")):
        with pytest.raises(ValueError, match=words):
            ComparisonSettings(**{**IMAGES, "series_lengths": lengths})
