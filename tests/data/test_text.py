"""Texts: splits in order, a vocabulary of the training part alone, trained tokens that lose nothing."""

import numpy as np
import pytest

from stablessm.data import DataError, load

TEXT = "Kennst du das Land, wo die Zitronen blühn?\n" * 40


def test_splits_in_order_and_characters_that_training_does_not_hold(tmp_path):
    path = tmp_path / "song.txt"
    path.write_text(TEXT + "Ω" * 10, newline="\r\n")
    data = load(path, test=0.2, validation=0.1)
    whole = TEXT + "Ω" * 10 + "\n"
    assert data.characters == tuple(map(len, (data.train, data.validation, data.test)))
    assert sum(data.characters) == len(whole) and data.characters[2] == round(0.2 * len(whole))
    assert data.decode(data.train) + data.decode(data.validation) == whole[: -data.characters[2]]
    assert (data.test == 0).sum() == 10 and data.decode(data.test).count("\ufffd") == 10
    assert data.tokens == 1 + len(set(whole[: data.characters[0]])) and data.train.dtype == np.int32
    assert (data.encode(data.decode(data.train)) == data.train).all()


def test_of_each_file_the_end_is_held_out(tmp_path):
    folder = tmp_path / "shakespeare"
    folder.mkdir()
    first, second = "ab\n" * 50, "cd\n" * 100
    (folder / "a_gut.txt").write_text(first)
    (folder / "b_gut.txt").write_text(second)
    each, last = (load("shakespeare", tmp_path, held_out=of, test=0.2, validation=0.1) for of in ("each", "end"))
    assert each.decode(each.test) == first[-30:] + second[-60:] and last.decode(last.test) == second[-90:]
    assert each.decode(each.train) == first[:105] + second[:210] and sum(each.characters) == len(first + second)
    with pytest.raises(DataError, match="must be one of end, each, but got 'all'"):
        load("shakespeare", tmp_path, held_out="all")


def test_trained_tokens_see_the_training_part_alone_and_lose_nothing(tmp_path):
    path = tmp_path / "song.txt"
    path.write_text(TEXT + "Ω zzzzzz" * 40)
    data, again = (load(path, tokenizer=300, test=0.15) for _ in range(2))
    assert data.tokenizer == again.tokenizer and (data.test == again.test).all()
    assert sum(map(len, map(data.decode, (data.train, data.validation, data.test)))) == sum(data.characters)
    assert "Zitronen blühn" in data.decode(data.train) and "Ω zzzz" in data.decode(data.test)
    assert len(data.train) < data.characters[0] / 2 and max(data.train) < data.tokens <= 300
    assert not any(b"zz" in one for one in data.vocabulary) and not (data.test == 0).any()
    assert (data.encode(data.decode(data.train)) == data.train).all()
    with pytest.raises(DataError, match="from 257 to 1048576, but got 20"):
        load(path, tokenizer=20)


def test_the_files_of_a_set_follow_each_other_by_name(tmp_path):
    folder = tmp_path / "shakespeare"
    folder.mkdir()
    (folder / "b_gut.txt").write_text("second " * 20)
    (folder / "a_gut.txt").write_text("first " * 20)
    (folder / "a_gut_f.txt").write_text("another edition")
    data = load("shakespeare", tmp_path)
    text = data.decode(np.concatenate([data.train, data.validation, data.test]))
    assert text == "first " * 20 + "\n" + "second " * 20 + "\n" and data.source.published is False


def test_tags_of_words_are_taken_off(tmp_path):
    (tmp_path / "ca01").write_text("\n\tThe/at and/or/cc 1/2/cd ./.\n\nIt/pps\n" * 9)
    data = load("brown", tmp_path)
    assert data.decode(data.train).startswith("The and/or 1/2 .\nIt\n")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"abc\xff", "UTF-8, but byte 3 is not"),
        (b"ab\0c", "bytes of zero"),
        (b"a", "too few to be split"),
    ],
)
def test_no_text_is_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "one.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        load(path)


def test_missing_texts_and_shares_out_of_range(tmp_path):
    with pytest.raises(DataError, match=r"there is no file '.*none.txt'"):
        load(tmp_path / "none.txt")
    path = tmp_path / "song.txt"
    path.write_text(TEXT)
    for shares in ({"test": 0.0}, {"validation": 0.6, "test": 0.5}, {"test": -0.1}):
        with pytest.raises(DataError, match="shares of validation and test"):
            load(path, **shares)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    import sys

    path = tmp_path / "song.txt"
    path.write_text(TEXT)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(DataError, match=r"trained tokens need the package tokenizers: pip install .stablessm\[data\]"):
        load(path, tokenizer=300)


def test_mails_are_bytes_in_two_classes(tmp_path):
    for folder, count in (("easy-ham-1", 6), ("spam-1", 4)):
        (tmp_path / "spam-assassin" / folder).mkdir(parents=True)
        for one in range(count):
            (tmp_path / "spam-assassin" / folder / f"{one}.txt").write_bytes(bytes([0, 255, 65]) * (one + 1))
    data = load("spam_assassin", tmp_path, longest=6, test=0.25, validation=0.25)
    rows = [len(getattr(data, split).inputs) for split in ("train", "validation", "test")]
    assert rows == [6, 2, 2] and data.tokens == 257 and data.classes == ("ham", "spam")
    for split in (data.train, data.validation, data.test):
        counts = np.arange(split.inputs.shape[1]) < split.lengths[:, None]
        assert (counts == (split.inputs > 0)).all() and set(split.targets.tolist()) == {0, 1}
    row = data.train.inputs[data.train.lengths.argmax()]
    assert row.tolist() == [1, 256, 66] * 2
    (tmp_path / "spam-assassin" / "letters").mkdir()
    (tmp_path / "spam-assassin" / "letters" / "0.txt").write_text("dear")
    with pytest.raises(DataError, match="named after ham or spam"):
        load("spam_assassin", tmp_path)
