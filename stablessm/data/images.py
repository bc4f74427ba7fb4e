"""Labelled images from local files or an installed package, in one shape, and as sequences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.cifar import binary_batch, binary_batch_of_100, parquet_table
from stablessm.data.content import File, Source, contents
from stablessm.data.idx import idx_array
from stablessm.data.idx import read_idx as read_idx
from stablessm.data.places import find
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError, DataSet
from stablessm.data.shifts import shifted
from stablessm.data.splits import held_out, shuffled

_HELD_OUT = 0.25  # of a set that has no official test split
_SPLIT_SEED = 0
_PERMUTATION_SEED = 0

Sequence = Literal["pixels", "rows", "permuted"]


class Images(NamedTuple):
    """A training and a test split.

    Attributes:
        train: images, uint8 or float32 in [0, 1], shape (n, rows, columns) or (n, rows, columns, channels).
        train_labels: int32, shape (n,).
        test: images, shape (m, rows, columns, ...).
        test_labels: int32, shape (m,).
    """

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray


def load_images(name: str, folder: str | Path | None = None) -> Images:
    """Load a set of labelled images with its official splits; of `digits`, which has none, a quarter is the test split.

    Args:
        name: key of `DATA_SETS`, of the kind "images".
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.

    Raises:
        DataError: an unknown set, missing files, or files of another content, shape or length than the set has.
    """
    return read_images(name, folder)[0]


def read_images(name: str, folder: str | Path | None = None) -> tuple[Images, Source]:
    """Return what `load_images` does, and what was read."""
    images = [
        one.name
        for one in DATA_SETS.values()
        if one.kind == "images" and all(layout.format in _READERS for layout in one.layouts)
    ]
    if name not in images:
        raise DataError(f"there is no data set {name!r} of images; the sets are {', '.join(images)}")
    known = DATA_SETS[name]
    if not known.layouts:
        return _packaged_digits()
    found = find(known, folder)
    parts, source = contents(known, found)
    train, train_labels, test, test_labels = _READERS[found.layout.format](parts)
    for images, labels in ((train, train_labels), (test, test_labels)):
        if images.shape[1:] != known.shape or labels.shape != images.shape[:1] or not len(labels):
            raise DataError(
                f"the files of {name!r} in '{found.place}' hold images of shape {images.shape} and labels of shape "
                f"{labels.shape}, not {' x '.join(map(str, known.shape))} images with one label each"
            )
        if labels.max() >= len(known.labels):
            raise DataError(
                f"labels of {name!r} must lie from 0 to {len(known.labels) - 1}, but the files in '{found.place}' hold "
                f"{labels.max()}"
            )
    return Images(train, train_labels.astype(np.int32), test, test_labels.astype(np.int32)), source


def _packaged_digits() -> tuple[Images, Source]:
    from sklearn import __version__
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(digits.images))
    images, labels = (digits.images[order] / 16).astype(np.float32), digits.target[order].astype(np.int32)
    held = round(len(images) * _HELD_OUT)
    source = Source(f"scikit-learn {__version__}", "", None)
    return Images(images[held:], labels[held:], images[:held], labels[:held]), source


def _idx(parts: list[list[File]]) -> tuple[np.ndarray, ...]:
    return tuple(idx_array(*files[0]) for files in parts)


def _tables(read: Callable[[Path, bytes], tuple[np.ndarray, np.ndarray]]) -> Callable[..., tuple[np.ndarray, ...]]:
    def read_parts(parts: list[list[File]]) -> tuple[np.ndarray, ...]:
        splits = [[read(*file) for file in files] for files in parts]
        return tuple(np.concatenate([one[place] for one in split]) for split in splits for place in (0, 1))

    return read_parts


_READERS: dict[str, Callable[[list[list[File]]], tuple[np.ndarray, ...]]] = {
    "idx": _idx,
    "cifar_binary": _tables(binary_batch),
    "cifar_parquet": _tables(parquet_table),
    "cifar100_binary": _tables(binary_batch_of_100),
}


def pooled(images: np.ndarray, size: int) -> np.ndarray:
    """Return images whose pixels are the means of squares of `size` x `size` pixels, float32 in [0, 1].

    Args:
        images: shape (n, rows, columns, ...), uint8 or values in [0, 1].
        size: a divisor of rows and columns; 1 leaves the images as they are.

    Raises:
        DataError: not a divisor.

    Example:
        >>> pooled(np.array([[[0, 255], [255, 0]]], np.uint8), 2).tolist()
        [[[0.5]]]
    """
    if size == 1:
        return images
    count, rows, columns, *rest = images.shape
    if size < 1 or rows % size or columns % size:
        raise DataError(f"images of {rows} x {columns} pixels cannot be pooled in squares of {size} x {size}")
    squares = images.reshape(count, rows // size, size, columns // size, size, *rest)
    scale = 255 if images.dtype == np.uint8 else 1
    return (squares.mean((2, 4), dtype=np.float32) / np.float32(scale)).astype(np.float32)


def sequences(images: np.ndarray, sequence: Sequence, order: np.ndarray | None = None) -> np.ndarray:
    """Return images as sequences, shape (n, time, features).

    Args:
        images: shape (n, rows, columns) or (n, rows, columns, channels).
        sequence: "pixels" (row by row, the channels as features), "rows" (a row a step) or "permuted" (pixels in the
            order of `order`).
        order: which pixel stands at each step of a permuted sequence.
    """
    count, rows, columns, *rest = images.shape
    if sequence == "rows":
        return images.reshape(count, rows, -1)
    pixels = images.reshape(count, rows * columns, *(rest or [1]))
    return pixels if sequence == "pixels" else pixels[:, order]


def load_image_sequences(
    name: str,
    folder: str | Path | None = None,
    *,
    sequence: Sequence = "pixels",
    pool: int = 1,
    shift: int = 0,
    validation: float = 0.1,
    seed: int = 0,
) -> Classification:
    """Load a set of labelled images as sequences.

    Args:
        name: key of `DATA_SETS`, of the kind "images".
        folder: as in `load_images`.
        sequence: "pixels", "rows", or "permuted": pixels in one order for the whole set, kept in the record.
        pool: side of the squares whose means are taken first; 2 makes 14 x 14 of 28 x 28.
        shift: pixels by which a training image is moved at most, across and down, anew each time it is seen.
        validation: share of the training images that is held out.
        seed: of the validation split.

    Raises:
        DataError: as `load_images`; an unknown sequence, a pool that does not divide, or a class without images.
    """
    if sequence not in get_args(Sequence):
        raise DataError(f"`sequence` must be one of {', '.join(get_args(Sequence))}, but got {sequence!r}")
    images, source = read_images(name, folder)
    train, test = pooled(images.train, pool), pooled(images.test, pool)
    order = shuffled(train.shape[1] * train.shape[2], _PERMUTATION_SEED) if sequence == "permuted" else None
    if not isinstance(shift, int) or not 0 <= shift < min(train.shape[1:3]):
        raise DataError(f"`shift` must be a number of pixels below {min(train.shape[1:3])}, but got {shift!r}")
    known = DATA_SETS[name]
    check_classes(known, images.train_labels)
    kept, held = held_out(images.train_labels, validation, seed)
    inputs, tested = sequences(train, sequence, order), sequences(test, sequence, order)
    return Classification(
        name,
        Examples(inputs[kept], images.train_labels[kept]),
        Examples(inputs[held], images.train_labels[held]),
        Examples(tested, images.test_labels),
        known.labels,
        source,
        order=order,
        change=partial(shifted, shape=train.shape[1:3], most=shift, order=order) if shift else None,
    )


def check_classes(known: DataSet, labels: np.ndarray) -> None:
    """See that every class of a set has a training row.

    Args:
        known: the set.
        labels: of the training rows.

    Raises:
        DataError: one has none.
    """
    absent = sorted(set(range(len(known.labels))) - set(np.unique(labels).tolist()))
    if absent:
        names = " and no ".join(repr(known.labels[one]) for one in absent)
        raise DataError(
            f"the training rows of {known.name!r} hold no {names}: a class without examples cannot be learned"
        )
