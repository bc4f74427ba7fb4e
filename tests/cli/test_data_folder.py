"""`--data`: a data set that is missing or damaged is one sentence that says where the files go."""

import gzip

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("STABLESSM_DATA", "")  # so that what a command sets is taken back


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


SMALL = ("--set", "parameterization=exp", "--set", "width=4", "--set", "steps=2", "--set", "batch=3", "--set", "seed=0",
         "--set", "learning_rate=0.01", "--set", "data=mnist", "--set", "sequence=rows")  # fmt: skip


def test_no_folder_an_empty_one_and_a_damaged_file(refused, tmp_path):
    where = tmp_path / "data"
    assert "--data must be a folder" in refused("run", "digits", *SMALL, "--data", where)
    (where / "mnist").mkdir(parents=True)
    sentence = refused("run", "digits", *SMALL, "--data", where)
    assert f"'{where}/mnist'" in sentence and "train-images-idx3-ubyte" in sentence
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"):
        (where / "mnist" / name).write_bytes(b"\0\0\x08\x03\0\0")
    (where / "mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(b"no gzip")
    assert "damaged" in refused("run", "digits", *SMALL, "--data", where)


def test_a_run_reads_the_folder(call, tmp_path):
    folder = tmp_path / "data" / "mnist"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for split, count in (("train", 20), ("t10k", 10)):
        images, labels = rng.integers(0, 256, (count, 28, 28), np.uint8), (np.arange(count) % 10).astype(np.uint8)
        (folder / f"{split}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (folder / f"{split}-labels-idx1-ubyte").write_bytes(idx(labels))
    code, _, err = call("run", "digits", *SMALL, "--data", tmp_path / "data", "--out", tmp_path / "out")
    assert code == 0, err
    assert (tmp_path / "out" / "raw" / "digits.nc").is_file()
