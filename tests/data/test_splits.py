"""What is held out, and files of anything: a sentence or an array, never a traceback."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stablessm.data.content import File
from stablessm.data.idx import idx_array
from stablessm.data.recordings import read_wav
from stablessm.data.registry import DataError
from stablessm.data.series_ts import _parsed
from stablessm.data.splits import held_out, in_order, shuffled

LABELS = st.lists(st.integers(-3, 5), min_size=1, max_size=60).map(np.array)


@settings(deadline=None)
@given(LABELS, st.floats(0, 0.99), st.integers(0, 2**32 - 1))
@example(np.repeat(np.arange(10), 5), 0.1, 0)  # half a row of each class
def test_held_out_rows_are_the_share_and_every_class_keeps_one(labels, share, seed):
    kept, out = held_out(labels, share, seed)
    assert sorted([*kept, *out]) == list(range(len(labels)))
    assert set(labels[kept]) == set(labels)
    classes, counts = np.unique(labels, return_counts=True)
    most = len(labels) - len(classes)
    assert len(out) == min(max(round(share * len(labels)), share > 0), most) or len(out) < most
    for label, count in zip(classes, counts, strict=True):
        assert (labels[out] == label).sum() <= np.ceil(share * count) + 1e-9
    again = held_out(labels, share, seed)
    assert (again[1] == out).all()


def test_shares_of_one_class_are_exact_and_seeds_differ():
    kept, out = held_out(np.zeros(1000, int), 0.1, 0)
    assert (len(kept), len(out)) == (900, 100)
    assert (held_out(np.zeros(1000, int), 0.1, 1)[1] != out).any()
    raw = np.random.PCG64(7).random_raw(50)
    assert (raw[shuffled(50, 7)][1:] >= raw[shuffled(50, 7)][:-1]).all()
    with pytest.raises(DataError, match="`seed`"):
        held_out(np.zeros(3, int), 0.1, -1)


@settings(deadline=None)
@given(st.integers(0, 500), st.floats(-0.1, 1.1), st.floats(-0.1, 1.1))
def test_parts_in_order_are_all_of_it(count, validation, test):
    try:
        parts = in_order(count, validation=validation, test=test)
    except DataError:
        return
    assert [one for part in parts for one in range(count)[part]] == list(range(count))
    assert all(len(range(count)[part]) for part in parts)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=40) | st.binary(max_size=30).map(lambda rest: b"\0\0\x08" + rest))
def test_any_bytes_as_idx(raw):
    try:
        array = idx_array(Path("one"), raw)
    except DataError as error:
        assert "'one'" in str(error)
    else:
        assert array.size + 4 + 4 * array.ndim == len(raw)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 60), st.integers(0, 255))
def test_a_recording_with_one_byte_changed(place, byte):
    from tests.data.test_audio import wav

    raw = bytearray(wav(range(8)))
    raw[place % len(raw)] = byte
    try:
        assert read_wav(Path("one"), bytes(raw)).shape[0] > 0
    except DataError as error:
        assert "'one'" in str(error)


_LINES = "@data|@classLabel true a b|@equalLength true|@univariate true|@dimensions 2"
_DATA = "1,2:a|1,2:3,4:b|1:a|:||?|@seriesLength x|@|#|1,,2:a|nan:a|1e99,1:a"
_WORDS = st.sampled_from(f"{_LINES}|{_DATA}".split("|"))


@settings(max_examples=150, deadline=None)
@given(st.lists(_WORDS, max_size=8))
def test_any_lines_as_ts(lines):
    text = "\n".join(["@classLabel true a b", *lines])
    try:
        series, labels, classes = _parsed(File(Path("one"), text.encode()))
    except DataError as error:
        assert "'one'" in str(error)
    else:
        assert len(series) == len(labels) > 0 and labels.max() < len(classes)
        assert all(np.isfinite(one).all() and one.ndim == 2 and one.size for one in series)
