"""E-mails as bytes, in two classes: long sequences of tokens of very different lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, contents
from stablessm.data.images import check_classes
from stablessm.data.places import find
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError
from stablessm.data.splits import held_out

_SYMBOLS = 257  # a blank behind the end, then the bytes
_TEST_SEED = 0


def load_mails(
    name: str,
    folder: str | Path | None = None,
    *,
    longest: int = 4096,
    validation: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
) -> Classification:
    """Load e-mails, byte by byte: token 0 is a blank behind the end, 1 + b the byte b.

    There is no official split; the test rows are held out by a seed of their own.

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        longest: bytes of a row; a longer mail is cut there.
        validation: share of the rows left that is held out.
        test: share of all rows.
        seed: of the validation split.

    Raises:
        DataError: missing, empty or foreign files, a class without rows, or an option out of range.
    """
    if not 1 <= longest <= 2**20:
        raise DataError(f"`longest` must lie from 1 to {2**20}, but got {longest}")
    known = DATA_SETS[name]
    (files,), source = contents(known, find(known, folder))
    labels = np.array([_label(file) for file in files], np.int32)
    lengths = np.array([min(len(file.content), longest) for file in files], np.int32)
    inputs = np.zeros((len(files), int(lengths.max())), np.uint16)
    for row, (file, length) in enumerate(zip(files, lengths, strict=True)):
        if not length:
            raise DataError(f"the mail '{file.path}' is empty")
        inputs[row, :length] = np.frombuffer(file.content, np.uint8, count=length)
        inputs[row, :length] += 1
    check_classes(known, labels)
    rest, tested = held_out(labels, test, _TEST_SEED)
    kept, held = held_out(labels[rest], validation, seed)
    splits = (Examples(inputs[rows], labels[rows], lengths[rows]) for rows in (rest[kept], rest[held], tested))
    return Classification(name, *splits, known.labels, source, tokens=_SYMBOLS)


def _label(file: File) -> int:
    folder = file.path.parent.name
    for label, word in enumerate(("ham", "spam")):
        if word in folder.split("-"):
            return label
    raise DataError(f"'{file.path}' should lie in a folder named after ham or spam, such as easy-ham-1")
