"""One column of real numbers from a file, CSV or .npy, or the sentence that says why there is none."""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stablessm.comma_separated import csv_rows, number
from stablessm.reading import read_bytes
from stablessm.targets.errors import TargetError

SUFFIXES = (".csv", ".npy")


class Samples(NamedTuple):
    """A column.

    Attributes:
        values: float64, shape (n,), n at least 1, all finite; read-only.
        sha256: of the bytes of the file.
    """

    values: np.ndarray
    sha256: str


def read_samples(path: str | Path, column: str | None = None) -> Samples:
    """Read one column of real numbers.

    A CSV file (commas, UTF-8) may begin with a row of names; a file of several columns needs one, and `column` says
    which. A .npy file holds one array of shape (n,) or (n, 1); what is pickled is refused unread.

    Args:
        path: a file ending in .csv or .npy.
        column: name of a column of a CSV file; None where there is only one.

    Raises:
        TargetError: no such file, another kind of file, or anything in it but one column of finite real numbers.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise TargetError(f"a file of samples must end in {' or '.join(SUFFIXES)}, but got '{path}'")
    content = read_bytes(path, "file", TargetError)
    if not content.strip():
        raise TargetError(f"the file '{path}' is empty")
    if suffix == ".npy" and column is not None:
        raise TargetError(f"'{path}' is an array without names of columns, but got the column {column!r}")
    return _column(path, content, column)


@lru_cache(maxsize=8)
def _column(path: Path, content: bytes, column: str | None) -> Samples:
    """Return the column of a file's content; a sweep asks for it some times over."""
    values = _from_csv(path, content, column) if path.suffix.lower() == ".csv" else _from_npy(path, content)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise TargetError(f"the samples of '{path}' must be finite, but sample {bad[0]} is {values[bad[0]]}")
    values.setflags(write=False)
    return Samples(values, hashlib.sha256(content).hexdigest())


def _from_csv(path: Path, content: bytes, column: str | None) -> np.ndarray:
    table = csv_rows(path, content, TargetError)
    place = _place(path, column, table.names, table.columns)
    values = []
    for line, row in table.body:
        value = number(row[place])
        if value is None:
            raise TargetError(f"the samples of '{path}' must be real numbers, but line {line} has {row[place]!r}")
        values.append(value)
    return np.array(values)


def _place(path: Path, column: str | None, names: list[str] | None, count: int) -> int:
    """Return the index of the column that is meant."""
    listed = f" ({', '.join(names)})" if names else ""
    if column is None:
        if count > 1:
            raise TargetError(f"'{path}' has {count} columns{listed}; name one of them as `column`")
        return 0
    if names is None:
        raise TargetError(f"'{path}' does not begin with names of columns, but got the column {column!r}")
    if names.count(column) != 1:
        number = "no column" if column not in names else "more than one column"
        raise TargetError(f"'{path}' has {number} {column!r}; its columns are: {', '.join(names)}")
    return names.index(column)


def _from_npy(path: Path, content: bytes) -> np.ndarray:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError):
        raise TargetError(f"'{path}' is not a .npy file of numbers: it is damaged, or holds pickled objects") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        kind = array.dtype.name if isinstance(array, np.ndarray) else "several arrays"
        raise TargetError(f"the samples of '{path}' must be real numbers, but it holds {kind}")
    if array.ndim not in (1, 2) or array.shape[1:] not in ((), (1,)):
        raise TargetError(f"'{path}' must hold one column, of shape (n,) or (n, 1), but has the shape {array.shape}")
    if not array.size:
        raise TargetError(f"the file '{path}' holds no samples")
    return array.reshape(-1).astype(np.float64)
