"""Series from CSV and .ts files: what they hold, and files that are not what they should be, by line and column."""

import numpy as np
import pytest

from stablessm.data import DataError, load

KEYS = "@problemName toy\n@timeStamps false\n@univariate false\n@dimensions 2\n@equalLength false\n"
HEAD = f"#about\n{KEYS}@classLabel true a b\n@data\n"
TRAIN = "1,2,3:4,5,6:a\n7,8:9,10:b\n-1e-1,0:0,2:a\n1,2:3,4:b\n"
TEST = "1,2,3,4:5,6,7,8:b\n"


def write_ts(folder, train=HEAD + TRAIN, test=HEAD + TEST, name="toy"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}_TRAIN.ts").write_text(train)
    (folder / f"{name}_TEST.ts").write_text(test)
    return folder / f"{name}_TRAIN.ts"


def test_series_of_unequal_length_are_padded_to_one(tmp_path):
    data = load(write_ts(tmp_path), validation=0.3)
    assert data.classes == ("a", "b") and data.features == 2 and data.tokens == 0
    assert data.test.inputs.tolist() == [[[1, 5], [2, 6], [3, 7], [4, 8]]] and data.test.targets.tolist() == [1]
    assert len(data.validation.inputs) == 1 and data.train.inputs.shape == (3, 4, 2)
    every = np.concatenate([data.train.inputs, data.validation.inputs])
    lengths = np.concatenate([data.train.lengths, data.validation.lengths])
    assert sorted(lengths.tolist()) == [2, 2, 2, 3] and every[lengths == 3][0].tolist() == [
        [1, 4],
        [2, 5],
        [3, 6],
        [0, 0],
    ]


def test_series_of_one_length_have_no_lengths(tmp_path):
    head = HEAD.replace("@equalLength false", "@equalLength true\n@seriesLength 2").replace(
        "@univariate false", "@Univariate true"
    )
    data = load(write_ts(tmp_path, head + "1,2:a\n3,4:b\n", head + "5,6:a\n\n"))
    assert data.train.lengths is None and data.test.inputs.tolist() == [[[5], [6]]]
    with pytest.raises(DataError, match=r"line 10 of .* should have 2 steps, but has 3"):
        load(write_ts(tmp_path, head + "1,2,3:a\n3,4:b\n"))


def test_a_published_set_has_its_names(tmp_path):
    write_ts(tmp_path / "japanese-vowels", name="JapaneseVowels")
    assert load("japanese_vowels", tmp_path).source.published is False
    (tmp_path / "japanese-vowels" / "JapaneseVowels_TEST.ts").unlink()
    with pytest.raises(DataError, match="'japanese_vowels' is not there"):
        load("japanese_vowels", tmp_path)


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        (HEAD.replace("@data\n", "") + TRAIN, "line 8 of .* should be a header line @key"),
        (HEAD.replace("@data\n", ""), "has no line @data"),
        ("", "has no line @data"),
        (HEAD, "holds no series"),
        (HEAD.replace("true a b", "false") + TRAIN, "should name its classes"),
        (HEAD.replace("true a b", "true a a") + TRAIN, "should name its classes"),
        (HEAD.replace("@timeStamps false", "@timeStamps true") + TRAIN, "time stamps"),
        (HEAD + TRAIN + "1:2:c\n", "line 13 of .* one of the classes a, b, but ends in 'c'"),
        (HEAD + TRAIN + "1,2:a\n", "line 13 of .* should have 2 dimensions, but has 1"),
        (HEAD + TRAIN + "1,2:1:a\n", "line 13 of .* lengths from 1 to 2"),
        (HEAD + TRAIN + "1,2:1,?:a\n", r"line 13, dimension 2, value 2 of .*, but is '\?'"),
        (HEAD + TRAIN + "1,nan:1,2:a\n", "line 13, dimension 1, value 2 of .*, but is 'nan'"),
        (HEAD + TRAIN + "1,2:1e39,2:a\n", "line 13, dimension 2, value 1 of .*, but is '1e39'"),
        (HEAD + "1,2:1,2:a\n", "no series of the class 'b'"),
        (HEAD.replace("true a b", "true b a") + TRAIN, "classes of .*_TEST.ts' are not those"),
    ],
)
def test_ts_files_that_are_not_are_sentences(tmp_path, train, sentence):
    with pytest.raises(DataError, match=sentence):
        load(write_ts(tmp_path, train))


def test_a_test_file_alone_and_one_of_other_dimensions(tmp_path):
    path = write_ts(tmp_path, test=HEAD.replace("@dimensions 2", "@dimensions 1") + "1,2:a\n")
    with pytest.raises(DataError, match=r"has 2 dimensions, but .* has 1"):
        load(path)
    with pytest.raises(DataError, match="training file of a set"):
        load(tmp_path / "toy_TEST.ts")
    (tmp_path / "toy_TEST.ts").unlink()
    with pytest.raises(DataError, match=r"there is no file .*toy_TEST.ts"):
        load(path)


def test_a_csv_is_split_in_order_and_standardised_by_its_training_part(tmp_path):
    path = tmp_path / "weather.csv"
    rows = [f"2020-01-{step:02d},{step},{step * step},7" for step in range(20)]
    path.write_text("day,a,b,c\n" + "\n".join(rows) + "\n")
    data = load(path, columns="b, a,c", test=0.2, validation=0.1)
    assert data.columns == ("b", "a", "c")
    whole = np.concatenate([data.train, data.validation, data.test])
    assert whole[:, 1].tolist() == list(range(20)) and (whole[:, 0] == whole[:, 1] ** 2).all()
    assert (len(data.train), len(data.validation), len(data.test)) == (14, 2, 4) and data.train.dtype == np.float32
    scaled = data.standardised()
    np.testing.assert_allclose(scaled.train.mean(0), [0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(scaled.train.std(0), [1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(
        scaled.test[:, 1] * data.train[:, 1].std() + data.train[:, 1].mean(), data.test[:, 1], rtol=1e-5
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("a,b\n", "no samples"),
        ("1,2\n", "has 1 row of numbers: a series needs at least 3"),
        ("a,b\n1,2\n3,4\n5\n", "line 4 of .* has 1 columns, but the first has 2"),
        ("a,b\n1,2\n3,x\n5,6\n", r"line 3, column 2 \('b'\) of .* should be a finite number, but is 'x'"),
        ("1,2\n3,inf\n5,6\n", r"line 2, column 2 \('1'\) .* 'inf'"),
        ("1,2\n3,1e39\n5,6\n", "line 2, column 2 .* '1e39'"),
        ("1,2\n\n5,6\n", "line 2 of .* is empty"),
        (b"\xff\xfe1\n", "not CSV in UTF-8"),
        ("a,b\n1,2\n3,4\n5,6\n", "too few to be split"),
    ],
)  # fmt: skip
def test_csv_files_that_are_not_are_sentences(tmp_path, content, sentence):
    path = tmp_path / "one.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=sentence):
        load(path)


def test_a_column_that_is_not_there(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,b\n" + "1,2\n" * 20)
    with pytest.raises(DataError, match="has no column 'c'; its columns are: a, b"):
        load(path, columns=["a", "c"])
