"""Labelled rows that are asked what comes next, and not of which class they are: pixels and samples as tokens."""

from __future__ import annotations

import numpy as np

from stablessm.data.mu_law import LEVELS
from stablessm.data.records import Classification, Examples, Sequences
from stablessm.data.registry import DataError

_ANSWERS = ("class", "next")
PARTS = ("train", "validation", "test")


def asks_next(ask: object) -> bool:
    """Return whether an option `ask` asks what comes next.

    Args:
        ask: "class" or "next".

    Raises:
        DataError: anything else.
    """
    if ask not in _ANSWERS:
        raise DataError(f"`ask` must be one of {', '.join(_ANSWERS)}, but got {ask!r}")
    return ask == "next"


def continued(record: Classification, shape: tuple[int, ...]) -> Sequences:
    """Return the rows of a labelled set as rows of tokens; pixels stay bytes.

    Values in [0, 1], of images that were pooled, are rounded to 256 levels. Channels follow one another at each pixel.

    Args:
        record: of images or recordings.
        shape: rows, columns and channels of an image; empty for recordings.

    Raises:
        DataError: its steps are neither tokens nor pixels in their order, or they are changed at random.
    """
    if record.change is not None:
        raise DataError(f"{record.name!r}: what comes next is asked of rows as they are; give no `shift` or `speed`")
    if record.tokens:
        parts = [getattr(record, name) for name in PARTS]
        made = [Examples(part.inputs, part.inputs, part.lengths) for part in parts]
        return Sequences(record.name, *made, record.tokens, record.source, shape)
    if not shape:
        raise DataError(f"{record.name!r}: what comes next is asked of tokens; give form=mu_law")
    if record.order is not None or record.train.inputs.shape[1] != shape[0] * shape[1]:
        raise DataError(f"{record.name!r}: what comes next is asked of pixels in their order; give sequence=pixels")
    made = [_levels(getattr(record, name).inputs) for name in PARTS]
    return Sequences(record.name, *(Examples(one, one) for one in made), LEVELS, record.source, shape)


def _levels(inputs: np.ndarray) -> np.ndarray:
    """Return values of shape (rows, time, channels) as bytes of shape (rows, time * channels)."""
    flat = np.asarray(inputs).reshape(len(inputs), -1)
    return flat if flat.dtype == np.uint8 else np.rint(np.clip(flat, 0, 1) * (LEVELS - 1)).astype(np.uint8)
