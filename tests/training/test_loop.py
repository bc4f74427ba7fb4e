"""The training loop: it learns, is resumed exactly, sees every row once an epoch, and names its first bad step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from pydantic import ValidationError

from stablessm import PARAMETERIZATIONS
from stablessm.layers import S4D
from stablessm.models import Block, Network
from stablessm.training import checkpoints
from stablessm.training.batches import Examples, checked, rows_of
from stablessm.training.loop import training
from stablessm.training.recipe import Recipe, learning_rate, transformation

KEY = jax.random.key(0)
ROWS, TIME = 24, 10
RECIPE = Recipe(steps=40, batch=6, learning_rate=0.02, warmup=0.1, weight_decay=0.1)


def model(dropout=0.1):
    layer = S4D(PARAMETERIZATIONS["best"], -jnp.array([0.1, 0.5]), inputs=4, step_sizes=(0.5, 1.0), key=KEY)
    return Network([Block(layer, dropout=dropout, key=KEY)], purpose="classification", outputs=2, key=KEY)


def examples():
    """Whether a noisy series lies above or below 0."""
    label = jnp.arange(ROWS) % 2
    return Examples(jax.random.normal(KEY, (ROWS, TIME, 1)) + (2.0 * label - 1)[:, None, None], label)


def loss(one, data, key):
    keys = jax.random.split(key, len(data.inputs))
    logits = jax.vmap(lambda x, key: one(x, key=key)[0])(data.inputs, keys)
    return optax.softmax_cross_entropy_with_integer_labels(logits, data.targets).mean()


@pytest.fixture(scope="module")
def run():
    return training(model(), loss, examples(), RECIPE, key=KEY)


def equal(one, two):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True))


def test_it_learns_and_a_run_taken_up_again_is_the_run_that_was_not_interrupted(run, tmp_path):
    whole, losses, _ = run.advance(run.start, 20)
    whole, later, _ = run.advance(whole, 20)
    assert later[-5:].mean() < 0.5 * losses[:5].mean() and int(whole.first_bad_step) == -1
    half, *_ = run.advance(run.start, 20)
    checkpoints.save(tmp_path / "half", half, {"layer": "s4d"})
    resumed = checkpoints.load(tmp_path / "half", run.start, {"layer": "s4d"})
    assert int(resumed.step) == 20
    again, same, _ = run.advance(resumed, 20)
    assert equal(again, whole) and np.array_equal(same, later)


def test_a_checkpoint_of_something_else_is_refused(run, tmp_path):
    path = tmp_path / "one"
    checkpoints.save(path, run.start, {"layer": "s4d", "width": 4})
    assert checkpoints.made_of(path) == {"layer": "s4d", "width": 4}
    with pytest.raises(checkpoints.CheckpointError, match="width differ"):
        checkpoints.load(path, run.start, {"layer": "s4d", "width": 8})
    wider = eqx.tree_at(lambda state: state.parameters.decoder.bias, run.start, jnp.zeros(3))
    with pytest.raises(checkpoints.CheckpointError, match="other shapes"):
        checkpoints.load(path, wider, {"layer": "s4d", "width": 4})
    content = path.read_bytes()
    for harm in (b"", b"other" * 9, content[:30], content[:-40]):
        path.write_bytes(harm)
        with pytest.raises(checkpoints.CheckpointError, match=r"damaged|no checkpoint"):
            checkpoints.load(path, run.start, {"layer": "s4d", "width": 4})


def test_a_nonfinite_step_is_named_and_freezes_the_run(run):
    broken = eqx.tree_at(lambda state: state.parameters.decoder.weight, run.start, replace_fn=lambda w: w * jnp.inf)
    frozen, losses, _ = run.advance(broken, 20)
    assert int(frozen.first_bad_step) == 0 and np.isinf(losses).all()
    assert equal(frozen.parameters, broken.parameters) and int(frozen.step) == 20


def test_every_row_comes_once_an_epoch_and_epochs_differ():
    seen = [np.asarray(rows_of(KEY, step, rows=10, batch=3)) for step in range(6)]
    first, second = (np.concatenate(seen[place : place + 3]) for place in (0, 3))
    assert len(set(first)) == len(set(second)) == 9 and first.tolist() != second.tolist()
    with pytest.raises(ValueError, match="at most the number of rows, 24"):
        training(model(), loss, examples(), Recipe(batch=25), key=KEY)


def test_groups_by_role_have_their_rates_and_only_the_rest_decays():
    parameters = eqx.filter(model(), eqx.is_inexact_array)
    recipe = Recipe(steps=10, learning_rate=0.1, warmup=0, schedule="constant", recurrent_multiplier=0.5,
                    step_multiplier=0.0, weight_decay=0.1, clip=None)  # fmt: skip
    optimizer = transformation(recipe, parameters)
    ones = jax.tree.map(jnp.ones_like, parameters)
    update, _ = optimizer.update(ones, optimizer.init(parameters), parameters, value=jnp.ones(()))
    layer, own = update.blocks[0].layer, parameters.blocks[0].layer
    np.testing.assert_allclose(layer.weight, -0.05, rtol=1e-5)
    np.testing.assert_allclose(layer.step_weight, 0, atol=1e-9)
    np.testing.assert_allclose(layer.readout, -0.1 * (1 + 0.1 * own.readout), rtol=1e-5)


def test_schedules_and_accumulation():
    rate = learning_rate(Recipe(steps=200, learning_rate=1.0, warmup=0.25, final=0.1))
    assert [round(float(rate(step)), 3) for step in (0, 25, 50, 125, 200)] == [0.0, 0.5, 1.0, 0.55, 0.1]
    parameters = {"weight": jnp.zeros(2)}
    optimizer = transformation(Recipe(accumulate=2, warmup=0, clip=None, learning_rate=0.1), parameters)
    state = optimizer.init(parameters)
    first, state = optimizer.update({"weight": jnp.array([1.0, -1.0])}, state, parameters, value=jnp.ones(()))
    second, _ = optimizer.update({"weight": jnp.array([3.0, 1.0])}, state, parameters, value=jnp.ones(()))
    assert not first["weight"].any()
    np.testing.assert_allclose(second["weight"], [-0.1, 0.0], atol=1e-6)  # of the mean gradient (2, 0)
    for wrong in (
        {"learning_rate": 0.0},
        {"warmup": 1.0},
        {"batch": 0},
        {"schedule": "steps"},
        {"steps": float("nan")},
    ):
        with pytest.raises(ValidationError):
            Recipe(**wrong)


def test_bad_examples_get_a_sentence():
    good = examples()
    assert checked(good) is good
    for bad, words in (
        (good._replace(targets=good.targets[:3]), "one number of rows"),
        (Examples(good.inputs[:0], good.targets[:0]), "nothing to train on"),
        (good._replace(lengths=jnp.full(ROWS, TIME + 1)), "from 1 to 10"),
    ):
        with pytest.raises(ValueError, match=words):
            checked(bad)
