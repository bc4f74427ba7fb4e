"""Declared runs: read, interrupted and taken up exactly, evaluated, and what is wrong said in one sentence."""

import dataclasses
import shutil

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm import PARAMETERIZATIONS
from stablessm.data.content import Source
from stablessm.data.loading import load
from stablessm.data.records import Classification, Examples
from stablessm.datasets import load as load_dataset
from stablessm.runs import RunError, evaluate, load_declaration, train
from stablessm.runs.noting import noted
from stablessm.runs.reading import bundled_runs
from stablessm.runs.setup import ready
from stablessm.runs.training import execute
from stablessm.sweeps.errors import SpecError
from stablessm.sweeps.run import run_sweep
from stablessm.tasks.architecture import Architecture, ArchitectureError, network
from stablessm.tasks.origin import origin
from stablessm.tasks.scores import carrying_scorer, row_losses, scorer, summary
from stablessm.tasks.task import TaskError, task_of
from stablessm.training.checkpoints import CheckpointError

SMALL = ["sequence=rows", "width=4", "states=4", "depth=1", "batch=8", "learning_rate=0.02", "evaluate_every=4",
         "records=6", "dropout=0.2", "parameterization=best(b=0.1)"]  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return ready(load_declaration("digits", overrides=SMALL, steps=11))


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    return execute(run, out=tmp_path_factory.mktemp("whole"))


def test_a_run_that_is_interrupted_and_taken_up_is_the_run_that_was_not(run, whole, tmp_path):
    def stop(status):
        if status.step >= 6:
            raise KeyboardInterrupt

    (tmp_path / "raw").mkdir()
    shutil.copy(whole.path, tmp_path / "raw")  # of an older run, which this one replaces
    with pytest.raises(KeyboardInterrupt):
        execute(run, out=tmp_path, fresh=True, progress=stop)
    assert not (tmp_path / "raw" / "digits-s4d-best.nc").exists()
    result = execute(run, out=tmp_path)
    assert result.resumed and not result.complete and result.steps == 11
    for one, two in ((result.path, whole.path), (result.checkpoint, whole.checkpoint)):
        assert one.read_bytes() == two.read_bytes()
    assert execute(run, out=tmp_path).complete


def test_the_dataset_says_what_happened(run, whole):
    dataset = load_dataset(whole.path)
    assert dataset.attrs["spec"] == run.declaration.document() and whole.outcome in ("step_limit", "collapsed")
    assert dataset["step"].values.tolist() == [0, 2, 4, 6, 8, 10]
    assert dataset["validation_step"].values.tolist() == [4, 8, 11]
    assert dataset["gradient_to_weight_ratio"].dims == ("step", "layer", "quantile")
    assert all(np.isfinite(variable.values).all() for variable in dataset.variables.values())
    assert dataset["first_bad_layer"] == -1 and int(dataset["best_step"]) in (4, 8, 11)


def test_evaluation_takes_the_best_weights_and_refuses_other_files(run, whole, tmp_path):
    found = evaluate(whole.checkpoint, split="validation")
    assert found.step == int(whole.dataset["best_step"]) and found.steps == 11
    best = whole.dataset["validation_accuracy"].max().item()
    assert found.scores.metric == pytest.approx(best, abs=1e-6)
    rows = len(run.task.splits["validation"].inputs)
    assert found.scores.metric_error == pytest.approx((best * (1 - best) / rows) ** 0.5) and found.scores.rows == rows
    with pytest.raises(RunError, match="No such file"):
        evaluate(tmp_path / "none")
    content = whole.checkpoint.read_bytes()
    wider = content.replace(b'"width": 4', b'"width": 6')
    turned = bytearray(content)
    turned[-100] ^= 1  # one bit of an array
    for harm, words in ((content[:-40], "damaged"), (b"else", "no checkpoint"), (wider, "checksum"),
                        (bytes(turned), "damaged: its content is not")):  # fmt: skip
        (tmp_path / "harmed").write_bytes(harm)
        with pytest.raises(CheckpointError, match=words):
            evaluate(tmp_path / "harmed")
    for path in (whole.path, whole.checkpoint):
        shutil.copy(path, tmp_path)
    with_scores = noted(found, tmp_path / whole.checkpoint.name)
    assert with_scores["validation_accuracy_error"].item() == pytest.approx(found.scores.metric_error)
    assert set(whole.dataset) < set(load_dataset(tmp_path / whole.path.name))
    with pytest.raises(RunError, match="finish the run first"):
        noted(found, tmp_path / "other.checkpoint")


def test_evaluation_at_other_lengths_is_that_of_rows_of_these_lengths(tmp_path):
    small = ["width=4", "states=2", "depth=1", "batch=8", "length=4", "vocabulary=8", "test=20"]
    short = execute(ready(load_declaration("recall", overrides=small, steps=2, name="short")), out=tmp_path)
    found = evaluate(short.checkpoint, lengths=[12])
    assert found.by_length[12].loss != found.scores.loss and found.by_length[12].rows == found.scores.rows
    dataset = noted(found, short.checkpoint)
    assert dataset["length"].values.tolist() == [12]
    assert dataset["test_accuracy_by_length"].values == pytest.approx([one.metric for one in found.by_length.values()])


def test_two_runs_of_one_name_do_not_write_one_file(run, tmp_path):
    def stop(status):
        with pytest.raises(RunError, match="is being trained by another run"):
            execute(run, out=tmp_path)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(run, out=tmp_path, progress=stop)
    assert [one.name for one in (tmp_path / "raw").iterdir()] == ["digits-s4d-best.checkpoint"]


def test_another_run_in_the_same_place_is_refused(whole):
    out = whole.path.parent.parent
    for more, words in ((["seed=1"], "seed: 0 -> 1"), (["lower=1"], "no option 'lower'")):
        with pytest.raises(ValueError, match=words):
            execute(ready(load_declaration("digits", overrides=[*SMALL, *more], steps=11)), out=out)
    with pytest.raises(RunError, match="`batch` must be at most the number of training rows, 1213, but got 5000"):
        ready(load_declaration("digits", overrides=[*SMALL, "batch=5000"]))


def test_where_a_step_began_that_is_not_finite(run):
    rows, key = run.training.batch(0)

    def began(where, value):
        broken = eqx.tree_at(where, run.model, replace_fn=lambda leaf: jnp.full_like(leaf, value))
        found = origin(broken, run.task, rows, key, "float32")
        return found.layer, found.during, found.sentence(broken)

    assert began(lambda one: one.blocks[0].mixing.bias, np.nan) == (1, "weights", "the weights of block 1 of 1 (S4D)")
    assert began(lambda one: one.blocks[0].mixing.weight, 3e38)[:2] == (1, "forward")


def test_declarations_are_read_as_a_whole():
    one = load_declaration(
        {"data": "digits", "model": {"layer": ["s4d", "attention"], "depth": 2}, "parameterization": "exp"},
        overrides=["pool=2", "link=exponential", "options.seed=3"], steps=7,
    )  # fmt: skip
    assert (
        one.name == "digits-s4d-attention-exp" and [kind.name for kind in one.model.kinds] == ["s4d", "attention"] * 2
    )
    assert one.options == {"pool": 2, "seed": 3} and one.parameterization["link"] == "exponential"
    assert one.recipe.steps == 7 and one.looks == (1, 2, 3, 4, 5, 6, 7)
    assert load_declaration(one.document()) == one
    assert {"characters", "next_pixel", "recall_256", "sequential_mnist"} <= set(bundled_runs())
    assert all(load_declaration(name).name == name for name in bundled_runs())
    for given, words in (
        ("layer=s4e", "nearest is 's4'"),
        ("width=0", "--set model.width"),
        ("model.widht=3", "nearest is 'width'"),
        ("parameterization=exq", "exp"),
        ("learning_rate=nan", "learning_rate"),
        ("name=A b", "a-z"),
        ("seed", "KEY=VALUE"),
    ):
        with pytest.raises(SpecError, match=words):
            load_declaration("digits", overrides=[given])
    with pytest.raises(SpecError, match="nearest is 'digits'"):
        load_declaration("digts")


def test_rows_that_do_not_fit_are_refused():
    def record(**other):
        good = Examples(np.zeros((6, 5, 1), np.float32), np.arange(6) % 2)
        parts = {"train": good, "validation": good, "test": good, **other}
        return Classification("mine", **parts, classes=("a", "b"), source=Source("here", "", None))

    good = record().train
    assert task_of(record(), context=4).zero_loss == pytest.approx(np.log(2))
    for other, words in (
        ({"test": good._replace(targets=good.targets + 1)}, "test: labels must lie from 0 to 1, but go from 1 to 2"),
        ({"train": good._replace(targets=np.zeros(6, int))}, "classes b have no rows"),
        ({"test": Examples(good.inputs[:0], good.targets[:0])}, "nothing"),
        ({"validation": good._replace(inputs=good.inputs[:, :3])}, "5 steps of training, but have 3"),
    ):
        with pytest.raises(TaskError, match=words):
            task_of(record(**other), context=4)


def test_bits_per_character_count_characters(tmp_path):
    (tmp_path / "play.txt").write_text("to be or not to be, that is the question " * 20)
    task = task_of(load(str(tmp_path / "play.txt")), context=8)
    assert task.metric == "bits_per_character" and task.splits["test"].inputs.shape[1] == 8
    losses = np.tile([np.log(2), 3 * np.log(2)], 50)
    scores = summary(task, "test", losses, losses > 0)
    assert scores.metric == pytest.approx(2) and scores.loss == pytest.approx(2 * np.log(2))
    assert 0 <= scores.metric_error < 1e-6  # every block of two rows has the same mean
    assert summary(task, "test", losses * np.inf, losses > 0).metric == np.inf
    with pytest.raises(TaskError, match="at most"):
        task_of(load(str(tmp_path / "play.txt")), context=600)


def test_a_state_that_is_carried_tells_each_row_what_stands_before_it(whole, tmp_path):
    """The losses of rows are those of the text as one row, which a row that begins anew has at its start alone."""
    (tmp_path / "play.txt").write_text("to be or not to be, that is the question " * 20)
    task = task_of(load(str(tmp_path / "play.txt")), context=6)
    made = Architecture(layer=("linear_rnn",), depth=1, width=4, states=4, mixing="none")
    model = network(made, PARAMETERIZATIONS["exp"], task, key=jax.random.key(0))
    rows = jax.tree.map(lambda part: jnp.asarray(part[:5], jnp.int32), task.splits["test"])
    text = rows.inputs.reshape(1, -1)
    y = jax.jit(lambda x: model(x)[0])(text[0])
    exact = -np.asarray(jax.nn.log_softmax(y))[np.arange(30), np.asarray(text[0])].reshape(5, 6).mean(1)
    np.testing.assert_allclose(carrying_scorer(task, "float32")(model, rows)[0], exact, rtol=1e-5)
    anew = scorer(task, "float32", 5)(model, rows)[0]
    assert anew[0] == pytest.approx(exact[0], rel=1e-5) and (abs(anew[1:] - exact[1:]) > 1e-4).all()
    with pytest.raises(TaskError, match="have no state to carry"):
        evaluate(whole.checkpoint, carry=True)


def test_networks_that_cannot_be_built_are_refused_in_a_sentence(run):
    for given, words in ((["states=5"], "even"), (["start=lin", "layer=lru"], "ring"),
                         (["layer=attention", "options.seed=0", "width=5"], "heads")):  # fmt: skip
        one = ready(load_declaration("digits", overrides=[*SMALL, *given]))
        with pytest.raises(ArchitectureError, match=words):
            network(one.declaration.model, one._map, one.task, key=jax.random.key(0))


def test_new_rows_of_recall_are_a_function_of_the_step_and_every_key_may_be_asked_for():
    small = ["width=4", "states=4", "depth=1", "batch=8", "length=6", "vocabulary=8", "rows=4"]
    one = ready(load_declaration("recall", overrides=[*small, "asked=every"], steps=3))
    rows = one.training.batch(2)[0]
    assert (rows.inputs == one.task.draw(jnp.arange(16, 24)).inputs).all()
    losses = []
    for task in (one.task, dataclasses.replace(one.task, questions=0)):
        losses.append(row_losses(task, one.model, rows, None, learning=True)[0])
    y = jax.vmap(lambda x: one.model(x)[0])(rows.inputs)
    logs = -jax.nn.log_softmax(y)
    answers = np.concatenate([rows.inputs[:, 1:], rows.targets[:, None]], axis=1)
    each = np.take_along_axis(np.asarray(logs), answers[..., None], axis=-1)[..., 0]
    keys = [0, 2, 4, 7]  # k v k v k v marker k
    np.testing.assert_allclose(losses[0], each[:, keys].mean(1), rtol=1e-5)
    np.testing.assert_allclose(losses[1], each[:, -1], rtol=1e-5)
    with pytest.raises(ArchitectureError, match="block 0 pools"):
        network(
            one.declaration.model.model_copy(update={"pool_steps": (2,)}), one._map, one.task, key=jax.random.key(0)
        )


@pytest.mark.slow
def test_a_cell_of_a_sweep_is_the_run_of_its_declaration(tmp_path):
    settings = {"data": "digits", "options": {"sequence": "rows"}, "depth": 1, "states": 4, "steps": 20, "batch": 8,
                "records": 20, "dropout": 0.2, "warmup": 0.1}  # fmt: skip
    axes = {"parameterization": ["direct", "best"], "width": [4], "learning_rate": [0.02, 1e3], "seed": [3, 5]}
    spec = {"name": "networks", "measurement": "training", "axes": axes, "settings": settings}
    cells = run_sweep(spec, out=tmp_path).squeeze("width")
    assert (cells["start_hash"].isel(parameterization=0) == cells["start_hash"].isel(parameterization=1)).all()
    assert len(np.unique(cells["start_hash"])) == 2  # one for each seed
    bad = cells.sel(learning_rate=1e3)
    assert (bad["outcome"] >= 3).all() and (bad["first_bad_step"] >= 0).all()
    assert not any(np.isnan(cells[name]).any() for name in ("loss", "test_loss", "gradient_to_weight_ratio"))
    result = train(
        {"data": "digits", "options": {"sequence": "rows"}, "parameterization": "best", "seed": 5},
        overrides=["depth=1", "states=4", "width=4", "dropout=0.2", "steps=20", "batch=8", "records=20", "warmup=0.1",
                   "learning_rate=0.02", "clip=1e9", "recurrent_multiplier=1", "step_multiplier=1", "final=0"],
        out=tmp_path,
    )  # fmt: skip
    cell = cells.sel(parameterization="best", learning_rate=0.02, seed=5)
    np.testing.assert_allclose(cell["loss"], result.dataset["loss"], rtol=1e-4)
    np.testing.assert_allclose(
        cell["gradient_to_weight_ratio"], result.dataset["gradient_to_weight_ratio"], rtol=1e-2, atol=1e-7
    )
    assert cell["validation_accuracy"].item() == pytest.approx(result.dataset["validation_accuracy"][-1].item())


def test_provenance_tells_others_where_data_lie_and_not_where_they_lay_here(tmp_path, monkeypatch):
    from stablessm.data.content import Source
    from stablessm.runs.training import told

    monkeypatch.setenv("STABLESSM_DATA", str(tmp_path))
    for place, expected in (
        (tmp_path / "mnist", "mnist"),
        ("scikit-learn 1.5", "scikit-learn 1.5"),
        ("/else", "/else"),
    ):
        assert told(Source(str(place), "", None))["place"] == expected


def test_attention_in_every_third_block_is_a_list_of_kinds():
    task = task_of(load("shift", length=8, validation=2, test=2), context=8)
    kinds, options = ("dlr", "dlr", "attention"), {"attention": {"context": 8}}
    one = Architecture(layer=kinds, depth=2, width=4, states=8, norm="post_scalar", mixing="linear", options=options)
    model = network(one, PARAMETERIZATIONS["square"], task, key=jax.random.key(0))
    assert [type(block.layer).__name__ for block in model.blocks] == ["DLR", "DLR", "Attention"] * 2
    x = jnp.asarray(task.splits["test"].inputs[0])

    @eqx.filter_jit
    def both(model):
        return model(x)[0], jax.lax.scan(lambda state, one: model.step(state, one), model.initial_state(), x)[1]

    np.testing.assert_allclose(*both(model), atol=2e-5)
