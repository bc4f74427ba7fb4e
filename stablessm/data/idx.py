"""IDX files of unsigned bytes: the form of MNIST and Fashion-MNIST.

A header of two zero bytes, the code of the element type (8: unsigned byte), the number of axes, and the length of each
axis as a big-endian 32-bit integer; then the elements.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from stablessm.data.content import read
from stablessm.data.registry import DataError


def read_idx(path: Path) -> np.ndarray:
    """Read an IDX file of unsigned bytes, gzipped or not.

    Args:
        path: of the file.

    Raises:
        DataError: not such a file, or shorter or longer than its header says.
    """
    return idx_array(path, read(path))


def idx_array(path: Path, raw: bytes) -> np.ndarray:
    """Return the array of an IDX file.

    Args:
        path: for sentences.
        raw: content of the file.

    Raises:
        DataError: as `read_idx`.
    """
    if len(raw) < 4 or raw[:3] != b"\x00\x00\x08":
        begins = raw[:3].hex(" ") or "nothing"
        raise DataError(
            f"'{path}' is not an IDX file of unsigned bytes: it should begin with 00 00 08, but begins with {begins}"
        )
    header = 4 + 4 * raw[3]
    shape = tuple(int.from_bytes(raw[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(raw[3]))
    if len(raw) != header + math.prod(shape):
        raise DataError(f"'{path}' should have {header + math.prod(shape)} bytes, but has {len(raw)}: it is damaged")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)
