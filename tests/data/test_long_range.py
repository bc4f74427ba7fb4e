"""Tiny files in the published formats of CIFAR-100, QuickDraw, IMDB, ListOps and Speech Commands."""

import io
import wave

import numpy as np
import pytest

from stablessm.data import DataError, load
from stablessm.data.catalogue import DATA_SETS

RNG = np.random.default_rng(0)


def wav(samples, rate=16_000):
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, "<i2").tobytes())
    return content.getvalue()


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_cifar_100_takes_the_finer_of_two_labels(tmp_path):
    images = RNG.integers(0, 256, (100, 32, 32, 3), np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(100, -1)
    rows = np.concatenate([np.full((100, 1), 7, np.uint8), np.arange(100, dtype=np.uint8)[:, None], planes], 1)
    write(tmp_path, {"cifar100/train.bin": rows.tobytes(), "cifar100/test.bin": rows[:3].tobytes()})
    data = load("cifar100", tmp_path, sequence="rows")
    assert data.test.targets.tolist() == [0, 1, 2] and (data.test.inputs.reshape(3, 32, 32, 3) == images[:3]).all()
    assert len(set(data.classes)) == 100 and data.classes[20] == "chair" and data.classes[99] == "worm"
    rows[5, 1] = 100
    for content, words in ((rows.tobytes(), "from 0 to 99, but row 5"), (rows.tobytes()[:-1], "rows of 3074 bytes")):
        write(tmp_path, {"cifar100/train.bin": content})
        with pytest.raises(DataError, match=words):
            load("cifar100", tmp_path)


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def test_drawings_have_a_class_for_each_file(tmp_path):
    cats, dogs = (RNG.integers(0, 256, (10, 784), np.uint8) for _ in range(2))
    write(tmp_path, {"quickdraw/full_numpy_bitmap_cat.npy": npy(cats), "quickdraw/hot dog.npy": npy(dogs)})
    data = load("quickdraw", tmp_path, each=8, test=0.25)
    assert data.classes == ("cat", "hot dog") and data.train.inputs.shape[1:] == (784, 1)
    assert sum(len(part.targets) for part in (data.train, data.validation, data.test)) == 16
    assert np.bincount(data.test.targets).tolist() == [2, 2]
    every = np.concatenate([part.inputs[part.targets == 0] for part in (data.train, data.validation, data.test)])
    assert sorted(every[..., 0].tolist()) == sorted(cats[:8].tolist())
    for content, words in ((npy(cats.astype(float)), "but holds float64"), (npy(cats)[:-5], "damaged"),
                           (npy(np.array([{}])), "damaged"), (npy(cats[:0]), "of shape")):  # fmt: skip
        write(tmp_path, {"quickdraw/hot dog.npy": content})
        with pytest.raises(DataError, match=words):
            load("quickdraw", tmp_path)
    (tmp_path / "quickdraw" / "hot dog.npy").unlink()
    with pytest.raises(DataError, match="two classes"):
        load("quickdraw", tmp_path)


def test_reviews_are_bytes_with_their_official_test_split(tmp_path):
    texts = {f"aclImdb/{split}/{kind}/{place}_{place}.txt": f"{kind} {split} {'so' * place}"
             for split in ("train", "test") for kind in ("neg", "pos") for place in range(3)}  # fmt: skip
    write(tmp_path, {**texts, "aclImdb/train/unsup/0_0.txt": "neither"})
    data = load("imdb", tmp_path, validation=0.3)
    assert len(data.test.targets) == 6 and len(data.train.targets) + len(data.validation.targets) == 6
    first = bytes((data.test.inputs[0, : data.test.lengths[0]] - 1).astype(np.uint8).tolist()).decode()
    assert first == "neg test " and data.test.targets.tolist() == [0, 0, 0, 1, 1, 1] and data.tokens == 257
    assert load("imdb", tmp_path, longest=5).train.inputs.shape[1] == 5
    write(tmp_path, {"aclImdb/test/pos/1_1.txt": ""})
    with pytest.raises(DataError, match="is empty"):
        load("imdb", tmp_path)


def test_operations_are_read_without_their_parentheses(tmp_path):
    head = "Source\tTarget\n"
    train = head + "".join(f"( ( ( [MAX {one} ) 0 ) ] )\t{one}\n" for one in range(10))
    longer = head + "( ( ( ( [SM 1 ) ( ( [MED 2 ) ] ) ) 4 ) ] )\t7\n"
    write(tmp_path, {"listops/basic_train.tsv": train, "listops/basic_val.tsv": longer,
                     "listops/basic_test.tsv": head + "[MIN 3 ]\t3\n"})  # fmt: skip
    data = load("listops", tmp_path)
    assert data.train.inputs.shape == (10, 7) and data.train.lengths.tolist() == [4] * 10
    assert data.validation.inputs[0].tolist() == [4, 7, 3, 8, 5, 10, 5] and data.test.targets.tolist() == [3]
    with pytest.raises(DataError, match="has 7 tokens, but `longest` is 6"):
        load("listops", tmp_path, longest=6)
    for content, words in ((head + "[MAX 3 ]\t10\n", "a tab and a digit"), (head + "[ADD 3 ]\t3\n", r"symbol '\[ADD'"),
                           ("a\tb\n", "columns Source and Target"), (b"\xff\xfe", "not text")):  # fmt: skip
        write(tmp_path, {"listops/basic_train.tsv": content})
        with pytest.raises(DataError, match=words):
            load("listops", tmp_path)


def test_spoken_digits_are_split_by_the_lists(tmp_path):
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    assert len(words) == len(DATA_SETS["speech_digits"].labels)
    files = {f"speech_commands/{word}/{speaker}_nohash_0.wav": wav(np.full(4 + place, 100 * place))
             for place, word in enumerate(words) for speaker in "abc"}  # fmt: skip
    lists = {"validation": ["one/b_nohash_0.wav", "cat/b_nohash_0.wav"], "testing": ["two/c_nohash_0.wav"]}
    write(tmp_path, {**files, **{f"speech_commands/{name}_list.txt": "\n".join(some) for name, some in lists.items()}})
    data = load("speech_digits", tmp_path)
    assert [len(part.targets) for part in (data.train, data.validation, data.test)] == [28, 1, 1]
    assert data.test.targets.tolist() == [2] and data.test.lengths.tolist() == [6]
    np.testing.assert_allclose(data.test.inputs[0, :6, 0], 200 / 2**15)
    halved = load("speech_digits", tmp_path, every=4)
    assert halved.test.lengths.tolist() == [2] and halved.test.inputs[0, 1, 0] == pytest.approx(200 / 2**15)
    write(tmp_path, {"speech_commands/one/a_nohash_0.wav": wav([1, 2], rate=8000)})
    with pytest.raises(DataError, match="at 16000 Hz, but is 1 of 16 bits at 8000"):
        load("speech_digits", tmp_path)
    write(tmp_path, {**files, "speech_commands/testing_list.txt": "cat/c.wav"})
    with pytest.raises(DataError, match="names none"):
        load("speech_digits", tmp_path)
