"""Images as sequences: what is held out, orders, pooling, and files that are not what they should be."""

import gzip
import hashlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stablessm.data import DATA_SETS, DataError, load
from stablessm.data.images import pooled
from stablessm.data.records import as_values, windows
from stablessm.data.registry import Layout, Part
from tests.data.formats import idx, write_mnist


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("data")
    write_mnist(where / "mnist")
    return where


def test_the_test_rows_are_the_published_ones_and_validation_is_a_part_of_training(folder, tmp_path):
    made = write_mnist(tmp_path / "mnist")
    data = load("mnist", tmp_path, validation=0.25)
    assert (data.test.inputs.reshape(-1, 28, 28) == made["t10k"][0]).all()
    assert data.test.targets.tolist() == made["t10k"][1].tolist() and data.test.targets.dtype == np.int32
    seen = {one.tobytes() for one in np.concatenate([data.train.inputs, data.validation.inputs])}
    assert seen == {one.tobytes() for one in made["train"][0]} and len(data.validation.inputs) == 10
    assert sorted(data.validation.targets.tolist()) == list(range(10))  # of each class one of four
    other = load("mnist", tmp_path, validation=0.25, seed=1)
    assert (other.validation.inputs != data.validation.inputs).any()
    assert data.source.published is False and len(data.source.sha256) == 64
    assert len(load("mnist", tmp_path, validation=0).validation.inputs) == 0


def test_pixels_rows_and_one_permutation_that_is_kept(folder):
    pixels, rows, permuted = (load("mnist", folder, sequence=one) for one in ("pixels", "rows", "permuted"))
    assert pixels.train.inputs.shape[1:] == (784, 1) and rows.train.inputs.shape[1:] == (28, 28)
    assert (pixels.features, rows.features, pixels.tokens) == (1, 28, 0)
    assert (rows.train.inputs.reshape(pixels.train.inputs.shape) == pixels.train.inputs).all()
    assert sorted(permuted.order) == list(range(784)) and pixels.order is None
    for split in ("train", "validation", "test"):
        assert (getattr(permuted, split).inputs == getattr(pixels, split).inputs[:, permuted.order]).all()
    assert (permuted.order == load("mnist", folder, sequence="permuted", seed=5).order).all()
    assert (permuted.order[:-1] + 1 == permuted.order[1:]).mean() < 0.05


def test_pooling_is_the_mean_of_squares_and_bytes_become_values(folder):
    whole, half = (load("mnist", folder, pool=size).test.inputs for size in (1, 2))
    squares = as_values(whole).reshape(-1, 14, 2, 14, 2).mean((2, 4)).reshape(half.shape)
    np.testing.assert_allclose(half, squares, rtol=1e-5)
    assert half.dtype == np.float32 and as_values(half) is half
    assert as_values(jnp.asarray(whole)).dtype == jnp.float32
    np.testing.assert_allclose(pooled(np.array([[[0.0, 1.0], [1.0, 0.0]]], np.float32), 2), [[[0.5]]])
    with pytest.raises(DataError, match="28 x 28 pixels cannot be pooled in squares of 3 x 3"):
        load("mnist", folder, pool=3)


@pytest.mark.parametrize(
    ("file", "spoil", "sentence"),
    [
        ("train-images-idx3-ubyte.gz", lambda raw: raw[:100], "damaged: it should be gzip"),
        ("train-images-idx3-ubyte.gz", lambda raw: gzip.compress(gzip.decompress(raw)[:-1]), "bytes, but has"),
        ("train-labels-idx1-ubyte", lambda raw: b"\0\0\x0d" + raw[3:], "begin with 00 00 08, but begins with 00 00 0d"),
        ("train-labels-idx1-ubyte", lambda raw: raw[:-1] + b"\x0a", "from 0 to 9"),
        ("train-labels-idx1-ubyte", lambda _: idx(np.zeros(39, np.uint8)), "one label each"),
        ("train-labels-idx1-ubyte", lambda _: idx(np.arange(40, dtype=np.uint8) % 9), "hold no '9'"),
        ("t10k-images-idx3-ubyte.gz", lambda _: gzip.compress(idx(np.zeros((10, 8, 8), np.uint8))), "28 x 28"),
        ("t10k-labels-idx1-ubyte", lambda _: b"", "begins with nothing"),
    ],
)
def test_truncated_foreign_and_mislabelled_files_are_sentences(tmp_path, file, spoil, sentence):
    write_mnist(tmp_path / "mnist")
    path = tmp_path / "mnist" / file
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DataError, match=sentence) as told:
        load("mnist", tmp_path)
    assert str(tmp_path) in str(told.value) or "'mnist'" in str(told.value)


def test_a_file_of_the_published_size_must_be_the_published_one(folder, tmp_path, monkeypatch):
    known = DATA_SETS["mnist"]
    parts = []
    for part in known.layouts[0].parts:
        path = next(one for one in (folder / "mnist").glob(f"{part.pattern}*"))
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        parts.append(Part(part.pattern, len(raw), hashlib.sha256(raw).hexdigest()))
    changed = {
        **DATA_SETS,
        "mnist": _with(known, parts),
        "fashion_mnist": _with(DATA_SETS["fashion_mnist"], known_as(parts)),
    }
    monkeypatch.setattr("stablessm.data.images.DATA_SETS", changed)
    monkeypatch.setattr("stablessm.data.content.DATA_SETS", changed)
    assert load("mnist", folder).source.published is True
    write_mnist(tmp_path / "mnist", seed=1)
    with pytest.raises(DataError, match="not that of 'mnist', whose size it has: it is damaged or of another set"):
        load("mnist", tmp_path)
    with pytest.raises(DataError, match="not that of 'fashion_mnist', whose size it has: it is that of 'mnist'"):
        load("fashion_mnist", folder / "mnist")


def known_as(parts):
    """The same files under other checksums."""
    return [Part(one.pattern, one.size, "0" * 64) for one in parts]


def _with(known, parts):
    from dataclasses import replace

    return replace(known, layouts=(Layout("idx", tuple(parts)),))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sequence": "columns"}, "`sequence` must be one of"),
        ({"validation": 1.0}, r"\[0, 1\)"),
        ({"length": 3}, "has no option 'length'"),
    ],
)
def test_options_out_of_range_are_sentences(folder, options, sentence):
    with pytest.raises(DataError, match=sentence):
        load("mnist", folder, **options)


def test_unknown_and_missing_sets_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("STABLESSM_DATA", raising=False)
    with pytest.raises(DataError, match="did you mean 'mnist'"):
        load("mnits")
    with pytest.raises(DataError, match="no folder, for none is named"):
        load("mnist")
    with pytest.raises(
        DataError, match=f"looked in '{tmp_path}/mnist', '{tmp_path}'.*train-images.*stablessm data fetch"
    ):
        load("mnist", tmp_path)


def test_windows_are_rows_of_one_length():
    rows = windows(np.arange(20).reshape(10, 2), 4, stride=3)
    assert rows.inputs.shape == (3, 4, 2) and rows.inputs[1, 0].tolist() == [6, 7] and rows.targets is rows.inputs
    with pytest.raises(ValueError, match="from 1 to 3"):
        windows(np.arange(3), 4)


@pytest.mark.parametrize("sequence", ["pixels", "rows", "permuted"])
def test_a_shift_moves_each_image_by_its_own_few_pixels_and_fills_with_zeros(folder, sequence):
    data = load("mnist", folder, sequence=sequence, shift=2)
    rows = data.train._replace(inputs=jnp.asarray(data.train.inputs[:6]), targets=data.train.targets[:6])
    moved = data.change(rows, jax.random.key(0)).inputs
    assert moved.shape == rows.inputs.shape and moved.dtype == rows.inputs.dtype
    back = np.arange(784) if data.order is None else np.argsort(data.order)
    places = []
    for before, after in zip(rows.inputs, moved, strict=True):
        one, two = (np.asarray(part).reshape(784, -1)[back].reshape(28, 28) for part in (before, after))
        wide = np.pad(one, 2)
        places.append([(r, c) for r in range(5) for c in range(5) if (wide[r : r + 28, c : c + 28] == two).all()])
    assert all(places) and len({one[0] for one in places}) > 1
    with pytest.raises(DataError, match="`shift`"):
        load("mnist", folder, shift=28)
