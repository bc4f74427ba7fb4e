"""QuickDraw: a bitmap file for each class, the drawings of all classes in one set."""

from __future__ import annotations

import io
from pathlib import Path
from typing import get_args

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, contents
from stablessm.data.images import Sequence, pooled, sequences
from stablessm.data.places import find
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError
from stablessm.data.splits import held_out, shuffled

_SIDE = 28
_TEST_SEED, _PERMUTATION_SEED = 0, 0


def load_drawings(
    name: str,
    folder: str | Path | None = None,
    *,
    sequence: Sequence = "pixels",
    pool: int = 1,
    each: int = 5000,
    validation: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
) -> Classification:
    """Load drawings as sequences; the classes are the files that are there, in the order of their names.

    There is no official split; the test rows are held out by a seed of their own.

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        sequence: "pixels", "rows" or "permuted", as of images.
        pool: side of the squares whose means are taken first.
        each: drawings of a class that are taken, the first ones of its file.
        validation: share of the rows that are no test rows.
        test: share of all rows.
        seed: of the validation split.

    Raises:
        DataError: missing or foreign files, fewer than two classes, or an option out of range.
    """
    if sequence not in get_args(Sequence):
        raise DataError(f"`sequence` must be one of {', '.join(get_args(Sequence))}, but got {sequence!r}")
    if not isinstance(each, int) or each < 1:
        raise DataError(f"`each` must be a number of drawings, at least 1, but got {each!r}")
    known = DATA_SETS[name]
    (files,), source = contents(known, find(known, folder))
    if len(files) < 2:
        raise DataError(f"{name!r} needs the files of two classes at least, but '{source.place}' holds {len(files)}")
    drawn = [bitmaps(file)[:each] for file in files]
    labels = np.repeat(np.arange(len(files), dtype=np.int32), list(map(len, drawn)))
    images = pooled(np.concatenate(drawn), pool)
    order = shuffled(images.shape[1] * images.shape[2], _PERMUTATION_SEED) if sequence == "permuted" else None
    inputs = sequences(images, sequence, order)
    rest, tested = held_out(labels, test, _TEST_SEED)
    kept, held = held_out(labels[rest], validation, seed)
    splits = (Examples(inputs[rows], labels[rows]) for rows in (rest[kept], rest[held], tested))
    classes = tuple(file.path.name.split(".npy")[0].removeprefix("full_numpy_bitmap_") for file in files)
    return Classification(name, *splits, classes, source, order=order)


def bitmaps(file: File) -> np.ndarray:
    """Return the drawings of a file, uint8 of shape (n, 28, 28).

    Raises:
        DataError: no such array, or none of them.
    """
    try:
        found = np.load(io.BytesIO(file.content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"'{file.path}' is no array of NumPy, or a damaged one: {str(error)[:80]}") from None
    if found.dtype != np.uint8 or found.ndim != 2 or found.shape[1] != _SIDE**2 or not len(found):
        raise DataError(
            f"'{file.path}' should hold drawings of {_SIDE**2} bytes each, but holds {found.dtype} of shape "
            f"{found.shape}"
        )
    return found.reshape(-1, _SIDE, _SIDE)
