"""Labelled images from local files or an installed package, in one shape."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stablessm.data.registry import DATA_SETS, DataError, DataSet

FOLDER_VARIABLE = "STABLESSM_DATA"
_HELD_OUT = 0.25  # of a set that has no official test split
_SPLIT_SEED = 0


class Images(NamedTuple):
    """A training and a test split.

    Attributes:
        train: images, uint8 or float32 in [0, 1], shape (n, rows, columns).
        train_labels: int32, shape (n,).
        test: images, shape (m, rows, columns).
        test_labels: int32, shape (m,).
    """

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray


def load_images(name: str, folder: str | Path | None = None) -> Images:
    """Load a set of labelled images, values scaled to [0, 1].

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.

    Raises:
        DataError: an unknown set, missing files, or files of another shape or length than the set has.
    """
    if name not in DATA_SETS:
        raise DataError(f"there is no data set {name!r}; the sets are {', '.join(DATA_SETS)}")
    known = DATA_SETS[name]
    return _packaged_digits() if not known.files else _idx_images(known, folder)


def _packaged_digits() -> Images:
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(digits.images))
    images, labels = (digits.images[order] / 16).astype(np.float32), digits.target[order].astype(np.int32)
    held_out = round(len(images) * _HELD_OUT)
    return Images(images[held_out:], labels[held_out:], images[:held_out], labels[:held_out])


def _idx_images(known: DataSet, folder: str | Path | None) -> Images:
    train, train_labels, test, test_labels = (read_idx(path) for path in _find(known, folder))
    for images, labels in ((train, train_labels), (test, test_labels)):
        if images.shape[1:] != known.shape or labels.shape != images.shape[:1] or labels.max() >= known.classes:
            raise DataError(
                f"the files of {known.name!r} hold images of shape {images.shape} and labels of shape {labels.shape}, "
                f"not {known.shape[0]} x {known.shape[1]} images of {known.classes} classes"
            )
    return Images(train, train_labels.astype(np.int32), test, test_labels.astype(np.int32))


def _find(known: DataSet, folder: str | Path | None) -> list[Path]:
    named = folder or os.environ.get(FOLDER_VARIABLE)
    places = [Path(named) / known.folder, Path(named)] if named else []
    places += [Path(known.system)] if known.system else []
    for place in places:
        found = [next((p for p in (place / file, place / f"{file}.gz") if p.is_file()), None) for file in known.files]
        if all(found):
            return [path for path in found if path]
    looked = ", ".join(f"'{place}'" for place in places) or "no folder, for none is named"
    raise DataError(
        f"the data set {known.name!r} is not there: looked in {looked}; put {', '.join(known.files)} (or .gz) into "
        f"FOLDER/{known.folder} and set {FOLDER_VARIABLE}=FOLDER ({known.obtain})"
    )


def read_idx(path: Path) -> np.ndarray:
    """Read an IDX file of unsigned bytes, gzipped or not.

    Raises:
        DataError: not such a file, or shorter or longer than its header says.
    """
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be read: {error}") from None
    if len(raw) < 4 or raw[:3] != b"\x00\x00\x08":
        raise DataError(f"'{path}' is not an IDX file of unsigned bytes")
    header = 4 + 4 * raw[3]
    shape = tuple(int.from_bytes(raw[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(raw[3]))
    if len(raw) != header + math.prod(shape):
        raise DataError(f"'{path}' should have {header + math.prod(shape)} bytes, but has {len(raw)}: it is damaged")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)
