"""CIFAR-10 in its two forms."""

import io
import sys

import numpy as np
import pytest

from stablessm.data import DataError, load
from stablessm.data.cifar import parquet_table
from stablessm.data.images import load_images

IMAGES = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3), np.uint8)
LABELS = np.arange(20) % 10


def batch(images, labels):
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.concatenate([np.asarray(labels, np.uint8)[:, None], planes], 1).tobytes()


def table(images, labels, **columns):
    import pyarrow
    import pyarrow.parquet
    from PIL import Image

    pictures = []
    for one in images:
        buffer = io.BytesIO()
        Image.fromarray(one).save(buffer, "PNG")
        pictures.append({"bytes": buffer.getvalue(), "path": None})
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"img": pictures, "label": labels, **columns}), buffer)
    return buffer.getvalue()


def test_both_forms_hold_the_same_pictures(tmp_path):
    binary, parquet = tmp_path / "one" / "cifar-10-batches-bin", tmp_path / "two" / "cifar10"
    for folder in (binary, parquet):
        folder.mkdir(parents=True)
    for one in range(5):
        (binary / f"data_batch_{one + 1}.bin").write_bytes(batch(IMAGES[4 * one :][:4], LABELS[4 * one :][:4]))
    (binary / "test_batch.bin").write_bytes(batch(IMAGES[:10], LABELS[:10]))
    (parquet / "train-00000-of-00001.parquet").write_bytes(table(IMAGES, LABELS))
    (parquet / "test-00000-of-00001.parquet").write_bytes(table(IMAGES[:10], LABELS[:10]))
    for folder in (binary.parent, parquet.parent):
        images = load_images("cifar10", folder)
        assert (images.train == IMAGES).all() and (images.test == IMAGES[:10]).all()
        assert images.train_labels.tolist() == LABELS.tolist() and images.test_labels.dtype == np.int32
    data = load("cifar10", binary.parent, sequence="rows", pool=4)
    assert data.train.inputs.shape[1:] == (8, 24) and data.classes[3] == "cat"
    assert load("cifar10", binary.parent).test.inputs.reshape(IMAGES[:10].shape).tolist() == IMAGES[:10].tolist()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (batch(IMAGES[:2], [1, 10]), "from 0 to 9, but row 1 of .* has 10"),
        (batch(IMAGES[:2], [1, 2])[:-1], "rows of 3073 bytes"),
        (b"", "but has 0 bytes"),
    ],
)
def test_other_batches_are_sentences(tmp_path, content, sentence):
    (tmp_path / "test_batch.bin").write_bytes(batch(IMAGES[:10], LABELS[:10]))
    (tmp_path / "data_batch_1.bin").write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        load("cifar10", tmp_path)


def test_other_tables_are_sentences(tmp_path, monkeypatch):
    import pyarrow
    import pyarrow.parquet

    path, sound = tmp_path / "one.parquet", table(IMAGES[:2], [1, 2])
    foreign = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"]}), foreign)
    broken = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"img": [{"bytes": b"\xff\xd8\xff"}], "label": [1]}), broken)
    for content, sentence in (
        (sound[:-9], "not a parquet table with the columns img.bytes and label"),
        (b"", "not a parquet table"),
        (foreign.getvalue(), "not a parquet table with"),
        (broken.getvalue(), "picture 0 of .* cannot be read"),
        (table(IMAGES[:1, :16], [1]), "should be 32 x 32 pixels, but is 16 x 32"),
        (table(IMAGES[:2], [1, -1]), "row 1 of .* has -1"),
        (table(IMAGES[:1], ["cat"]), "should hold integers"),
    ):
        with pytest.raises(DataError, match=sentence):
            parquet_table(path, content)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"parquet files need the package pyarrow: pip install .stablessm\[data\]"):
        parquet_table(path, sound)
