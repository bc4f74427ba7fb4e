"""Associative recall: rows that follow from a seed and their number, and answers that are in the row."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.data import DataError, load
from stablessm.data.recall import recall, recall_rows

TASK = recall(length=24, vocabulary=14, seed=3)


@pytest.fixture(scope="module")
def rows():
    return recall_rows(TASK, np.arange(200))


def test_an_answer_is_the_value_of_a_key_that_occurred(rows):
    inputs, targets, lengths = rows
    assert inputs.shape == (200, 26) and lengths is None
    for row, answer in zip(np.asarray(inputs), np.asarray(targets), strict=True):
        keys, values = row[:-2:2], row[1:-2:2]
        assert ((keys >= 0) & (keys < 6)).all() and ((values >= 6) & (values < 12)).all()
        value_of = dict(zip(keys.tolist(), values.tolist(), strict=True))
        assert [value_of[key] for key in keys.tolist()] == values.tolist()  # one value per key
        assert row[-2] == 12 and value_of[int(row[-1])] == answer
    every = np.asarray(inputs)
    assert set(every[:, -1].tolist()) == set(range(6)) and set(np.asarray(targets).tolist()) == set(range(6, 12))
    first = np.stack([every[every[:, 0] == key, 1] for key in (0,)])
    assert len(np.unique(first)) > 1  # and another one in another row


def test_a_row_is_a_function_of_its_number(rows):
    some = jax.jit(lambda numbers: recall_rows(TASK, numbers))(jnp.arange(200)[::-1])
    assert (some.inputs == rows.inputs[::-1]).all() and (some.targets == rows.targets[::-1]).all()
    other = recall_rows(TASK, np.arange(200), "test")
    assert not {one.tobytes() for one in np.asarray(rows.inputs)} & {one.tobytes() for one in np.asarray(other.inputs)}
    assert (recall_rows(recall(length=24, vocabulary=14, seed=4), np.arange(200)).inputs != rows.inputs).any()


def test_the_longest_row_and_a_stored_set():
    row = recall_rows(recall(length=131_072), np.arange(1))
    assert row.inputs.shape == (1, 131_074)
    data = load("recall", rows=2, validation=2, test=2, length=24, vocabulary=14, seed=3)
    assert (len(data.train.inputs), len(data.validation.inputs), len(data.test.inputs)) == (2, 2, 2)
    assert data.tokens == len(data.classes) == 14 and data.features == 0
    assert (data.train.inputs == recall_rows(TASK, np.arange(200)).inputs[:2]).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"length": 7}, "length must be even, but got 7"),
        ({"length": 131_074}, "length of the recall task.*131072.*131074"),
        ({"vocabulary": 4}, "vocabulary of the recall task.*6.*4"),
        ({"seed": -1}, "seed of the recall task"),
        ({"rows": 0}, "`rows` must lie from 1"),
    ],
)
def test_tasks_out_of_range_are_sentences(options, sentence):
    with pytest.raises(DataError, match=sentence):
        load("recall", **options)


def test_rows_are_drawn_anew_unless_they_are_stored():
    data = load("recall", rows=2, length=24, vocabulary=14, seed=3)
    assert (data.draw(jnp.arange(7, 9)).inputs == recall_rows(TASK, np.arange(200)).inputs[7:9]).all()
    assert load("recall", rows=2, length=24, anew=False).draw is None
    assert data.questions == 0 and load("recall", rows=2, length=24, vocabulary=14, asked="every").questions == 6
    for options in ({"asked": "first"}, {"anew": 3}):
        with pytest.raises(DataError, match=next(iter(options))):
            load("recall", **options)
