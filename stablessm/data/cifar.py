"""CIFAR-10 and CIFAR-100: the binary batches of its authors, and parquet tables of compressed pictures."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from stablessm.data.extras import needed
from stablessm.data.registry import DataError

_SHAPE = (32, 32, 3)
CLASSES = 10

Labelled = tuple[np.ndarray, np.ndarray]


def binary_batch(path: Path, raw: bytes) -> Labelled:
    """Return the pictures and labels of a binary batch, shapes (n, 32, 32, 3) and (n,), uint8.

    Args:
        path: for sentences.
        raw: content of the file.

    Raises:
        DataError: no whole number of rows, or a label that is none of the ten.
    """
    return _batch(path, raw, 1, CLASSES)


def binary_batch_of_100(path: Path, raw: bytes) -> Labelled:
    """Return what `binary_batch` does of a file of CIFAR-100, whose rows have a label of 20 before that of 100.

    Args:
        path: for sentences.
        raw: content of the file.

    Raises:
        DataError: no whole number of rows, or a label that is none of the hundred.
    """
    return _batch(path, raw, 2, 100)


def _batch(path: Path, raw: bytes, labels: int, classes: int) -> Labelled:
    row = labels + 3072  # then 32 x 32 bytes of red, of green, of blue
    if not raw or len(raw) % row:
        told = "a label" if labels == 1 else f"{labels} labels"
        raise DataError(
            f"'{path}' should be rows of {row} bytes, {told} and a picture of 32 x 32 pixels in three colours, "
            f"but has {len(raw)} bytes: it is damaged or of another set"
        )
    rows = np.frombuffer(raw, np.uint8).reshape(-1, row)
    _check(path, rows[:, labels - 1], classes)
    return rows[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, labels - 1]


def parquet_table(path: Path, raw: bytes) -> Labelled:
    """Return the pictures and labels of a table with columns `img` (a record with `bytes`: PNG or JPEG) and `label`.

    Args:
        path: for sentences.
        raw: content of the file.

    Raises:
        DataError: no such table, a picture that is damaged or of another size, a label that is none of the ten, or
            pyarrow or pillow is not installed.
    """
    arrow = needed("pyarrow", "parquet files")
    parquet = needed("pyarrow.parquet", "parquet files")
    try:
        table = parquet.read_table(io.BytesIO(raw), columns=["img", "label"])
        labels = table.column("label").to_numpy()
        pictures = table.column("img").combine_chunks().field("bytes").to_pylist()
    except (arrow.ArrowException, OSError, KeyError, AttributeError, ValueError) as error:
        raise DataError(
            f"'{path}' is not a parquet table with the columns img.bytes and label: {_short(error)}"
        ) from None
    if labels.dtype.kind not in "iu" or not len(labels):
        raise DataError(f"the column label of '{path}' should hold integers, but holds {len(labels)} of {labels.dtype}")
    _check(path, labels)
    images = np.empty((len(labels), *_SHAPE), np.uint8)
    for row, picture in enumerate(pictures):
        images[row] = _decoded(path, row, picture)
    return images, labels


def _decoded(path: Path, row: int, picture: bytes | None) -> np.ndarray:
    image = needed("PIL.Image", "compressed pictures")
    try:
        pixels = np.asarray(image.open(io.BytesIO(picture or b"")).convert("RGB"))
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise DataError(f"picture {row} of '{path}' cannot be read: {_short(error)}") from None
    if pixels.shape != _SHAPE:
        raise DataError(
            f"picture {row} of '{path}' should be 32 x 32 pixels, but is {pixels.shape[0]} x {pixels.shape[1]}"
        )
    return pixels


def _check(path: Path, labels: np.ndarray, classes: int = CLASSES) -> None:
    bad = np.flatnonzero((labels < 0) | (labels >= classes))
    if bad.size:
        raise DataError(f"labels must lie from 0 to {classes - 1}, but row {bad[0]} of '{path}' has {labels[bad[0]]}")


def _short(error: Exception) -> str:
    return str(error).split("\n")[0][:120]
