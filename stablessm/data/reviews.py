"""IMDB: film reviews byte by byte, negative or positive."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import contents
from stablessm.data.images import check_classes
from stablessm.data.places import find
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError
from stablessm.data.splits import held_out

_SYMBOLS = 257  # a blank behind the end, then the bytes


def load_reviews(
    name: str,
    folder: str | Path | None = None,
    *,
    longest: int = 4096,
    validation: float = 0.1,
    seed: int = 0,
) -> Classification:
    """Load reviews with their official test split: token 0 is a blank behind the end, 1 + b the byte b.

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        longest: bytes of a row; a longer review is cut there.
        validation: share of the training rows that is held out.
        seed: of the validation split.

    Raises:
        DataError: missing or empty files, or an option out of range.
    """
    if not 1 <= longest <= 2**20:
        raise DataError(f"`longest` must lie from 1 to {2**20}, but got {longest}")
    known = DATA_SETS[name]
    parts, source = contents(known, find(known, folder))
    empty = next((file.path for part in parts for file in part if not file.content), None)
    if empty is not None:
        raise DataError(f"'{empty}' is empty, which no review is")

    def rows(negative: list, positive: list) -> Examples:
        texts = [file.content[:longest] for part in (negative, positive) for file in part]
        lengths = np.array(list(map(len, texts)), np.int32)
        inputs = np.zeros((len(texts), int(lengths.max())), np.int16)
        for row, text in enumerate(texts):
            inputs[row, : len(text)] = 1 + np.frombuffer(text, np.uint8).astype(np.int16)
        return Examples(inputs, np.repeat(np.arange(2, dtype=np.int32), [len(negative), len(positive)]), lengths)

    whole, tested = rows(*parts[:2]), rows(*parts[2:])
    check_classes(known, whole.targets)
    kept, held = held_out(whole.targets, validation, seed)
    splits = (Examples(*(part[chosen] for part in whole)) for chosen in (kept, held))
    return Classification(name, *splits, tested, known.labels, source, tokens=_SYMBOLS)
