"""The atomic tasks written out in NumPy, what is scored without learning them, and a network that learns one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.data import DataError, load
from stablessm.data.atomic import TASKS, Atomic, atomic_rows
from stablessm.data.generated import ATOMIC
from stablessm.data.trivial import r_squared, shifts_known, trivial_score
from stablessm.tasks.task import task_of

SIZES = {"length": 24, "marked": 5, "features": 3}
EVERY = {name: Atomic(name=name, **SIZES) for name in TASKS}
ROWS = 3


@pytest.fixture(scope="module")
def rows():
    made = jax.jit(lambda numbers: {name: atomic_rows(task, numbers) for name, task in EVERY.items()})
    return jax.tree.map(lambda leaf: np.asarray(leaf, float), made(jnp.arange(ROWS)))


def later(x, by):
    return np.concatenate([np.zeros(by), x[: len(x) - by]])


def marked(x):
    return x[:29, 0][x[:29, 1] == 1]


def best_fitting(x):
    query, keys, value = x[:, :3], x[:, 3:6], x[:, 6:9]
    return np.array([value[np.argmax(keys[: i + 1] @ query[i])] for i in range(24)])


def solution(x):
    table = x[: 4 * 5, 0].reshape(4, 5)
    np.testing.assert_allclose(table[:, :4] @ table[:, :4].T, np.eye(4), atol=1e-6)
    assert (x[20:, 0] == 0).all()
    return np.linalg.solve(table[:, :4], table[:, 4])


def context_shifted(x):
    by = round(np.arctan2(x[1, 0], x[0, 0]) / (2 * np.pi) * 24) % 24
    return later(x[:, 0], by)


ANSWERS = {
    "shift": lambda x: np.stack([later(x[:, 0], 3 * j) for j in range(8)], -1),
    "cumsum": lambda x: np.cumsum(x[:, 0]) / np.sqrt(np.arange(1, 25)),
    "cummax": lambda x: np.maximum.accumulate(x[:, 0]),
    "reverse": lambda x: x[:24, 0][::-1],
    "sort": lambda x: x[:24, 0][np.argsort(np.abs(x[:24, 0] - x[0, 0]))],
    "select": marked,
    "select_fixed": marked,
    "mips": best_fitting,
    "context_shift": context_shifted,
    "solve": solution,
    "solve_fixed": solution,
}


@pytest.mark.parametrize("name", TASKS)
def test_every_answer_is_that_of_its_definition(rows, name):
    task, found = EVERY[name], rows[name]
    assert found.inputs.shape == (ROWS, task.steps, task.inputs)
    assert found.targets.shape == (ROWS, task.answered, task.outputs)
    for x, answer in zip(found.inputs, found.targets, strict=True):
        np.testing.assert_allclose(answer.squeeze(), ANSWERS[name](x), atol=2e-6)
    angle = 2 * np.pi * np.arange(task.steps) / task.steps
    np.testing.assert_allclose(found.inputs[0, :, -2:], np.stack([np.cos(angle), np.sin(angle)], -1), atol=1e-6)
    if name in ("shift", "cumsum", "cummax", "reverse", "sort", "select", "select_fixed"):
        np.testing.assert_allclose(np.abs(found.inputs[..., 0]).max(axis=1), 1, atol=1e-6)
    if name == "select_fixed":  # drawn once for all rows
        assert (np.ptp(found.inputs[:, :29, 1], axis=0) == 0).all()
    if name == "solve_fixed":
        matrices = found.inputs[:, :20, 0].reshape(ROWS, 4, 5)[..., :4]
        assert (np.ptp(matrices, axis=0) == 0).all()


def test_rows_of_one_split_are_none_of_another_and_new_at_every_number():
    task = Atomic(name="cumsum", length=8)
    made = [atomic_rows(task, jnp.arange(4), split).inputs[:, :, 0] for split in ("train", "validation", "test")]
    firsts = np.concatenate([np.asarray(one) for one in made])
    assert len({tuple(row) for row in firsts}) == 12
    again = atomic_rows(task, jnp.array([2]))
    np.testing.assert_array_equal(again.inputs[0, :, 0], made[0][2])  # whatever stands beside it
    assert set(ATOMIC) == set(TASKS)


def test_what_is_scored_without_learning():
    """The scores of an independent derivation: of shift by the variances of its columns, of others by simulation."""
    shift = Atomic(name="shift", length=256)
    some = jax.jit(lambda numbers: atomic_rows(shift, numbers))(jnp.arange(300))
    known = [shifts_known(shift, some, m) for m in range(1, 9)]
    np.testing.assert_allclose(known, [0.222, 0.417, 0.583, 0.722, 0.833, 0.917, 0.972, 1], atol=2e-3)
    assert trivial_score(shift, some)[1] == pytest.approx(known[0], abs=1e-3)
    for name, length, expected, close in (
        ("cumsum", 256, 0.89, 0.01),
        ("cummax", 256, 0.47, 0.02),
        ("sort", 256, 0.48, 0.02),
    ):
        task = Atomic(name=name, length=length)
        some = jax.jit(lambda numbers, task=task: atomic_rows(task, numbers))(jnp.arange(600))
        assert trivial_score(task, some)[1] == pytest.approx(expected, abs=close)
    assert (
        trivial_score(Atomic(name="reverse", length=8), atomic_rows(Atomic(name="reverse", length=8), jnp.arange(9)))[1]
        == 0
    )
    assert np.isnan(r_squared(np.ones(3), np.ones(3)))  # nothing varies: no score


def test_the_task_asks_for_the_last_steps_and_scores_r2():
    from stablessm.tasks.scores import summary

    record = load("select", length=20, marked=4, validation=8, test=6)
    task = task_of(record, context=1)
    assert (task.metric, task.more_is_better, task.inputs, task.outputs) == ("r2", True, 4, 1)
    answer = np.asarray(task.splits["test"].targets, float)
    losses = np.square(answer - answer.mean()).mean(axis=(1, 2))
    scores = summary(task, "test", losses, np.zeros(6, bool))
    assert scores.metric == pytest.approx(0, abs=1e-6) and scores.metric_error > 0
    np.testing.assert_array_equal(record.draw(jnp.arange(2)).targets, record.draw(jnp.arange(2)).targets)


@pytest.mark.parametrize(("options", "sentence"), [
    ({"name": "shift", "length": 12}, "multiple of shifts = 8"), ({"name": "sort", "length": 1}, "`length`"),
    ({"name": "select", "marked": 0}, "`marked`"), ({"name": "mips", "test": 1}, "`test` must lie from 2"),
    ({"name": "cumsum", "rows": 3}, "has no option 'rows'"),
])  # fmt: skip
def test_sizes_out_of_range_are_one_sentence(options, sentence):
    with pytest.raises(DataError, match=sentence):
        load(options.pop("name"), **options)
