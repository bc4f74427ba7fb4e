"""Labelled series from .ts files, the format of the UEA and UCR archives.

A header of lines `@key value`; behind `@data` a series a line: its dimensions between colons, the values of a dimension
between commas, the class last. Series of unequal length are padded with zeros behind their end, and `lengths` says
where that is.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, Source, contents, read
from stablessm.data.places import find
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError
from stablessm.data.splits import held_out

_TRAIN, _TEST = "_TRAIN.ts", "_TEST.ts"


class _Header(NamedTuple):
    """What stands before the data: keys in lower case, and the number of the first line behind `@data`."""

    keys: dict[str, str]
    classes: tuple[str, ...]
    begin: int


def load_ts(
    name: str | Path, folder: str | Path | None = None, *, validation: float = 0.1, seed: int = 0
) -> Classification:
    """Load labelled series with their official splits.

    Args:
        name: key of `DATA_SETS`, or the path of a training file NAME_TRAIN.ts beside NAME_TEST.ts.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        validation: share of the training series that is held out.
        seed: of the validation split.

    Raises:
        DataError: missing or damaged files, a header without `@data` or classes, timestamps, a cell that is no number,
            dimensions of several lengths, a class that the header does not name, or one without training series.
    """
    train_file, test_file, source = _files(name, folder)
    train, labels, classes = _parsed(train_file)
    test, test_labels, test_classes = _parsed(test_file)
    if test_classes != classes:
        raise DataError(f"the classes of '{test_file.path}' are not those of '{train_file.path}'")
    if train[0].shape[1] != test[0].shape[1]:
        raise DataError(
            f"'{train_file.path}' has {train[0].shape[1]} dimensions, but '{test_file.path}' has {test[0].shape[1]}"
        )
    absent = [name for place, name in enumerate(classes) if place not in labels]
    if absent:
        raise DataError(f"'{train_file.path}' holds no series of the class {absent[0]!r}, which cannot be learned then")
    longest = max(map(len, [*train, *test]))
    equal = all(len(one) == longest for one in [*train, *test])
    (inputs, lengths), (tested, test_lengths) = (_padded(part, longest) for part in (train, test))
    kept, held = held_out(labels, validation, seed)
    splits = (
        Examples(inputs[kept], labels[kept], None if equal else lengths[kept]),
        Examples(inputs[held], labels[held], None if equal else lengths[held]),
        Examples(tested, test_labels, None if equal else test_lengths),
    )
    return Classification(str(name), *splits, classes, source)


def _files(name: str | Path, folder: str | Path | None) -> tuple[File, File, Source]:
    known = DATA_SETS.get(str(name))
    if known is not None:
        ((train,), (test,)), source = contents(known, find(known, folder))
        return train, test, source
    path = Path(name)
    if not path.name.endswith(_TRAIN):
        raise DataError(f"'{path}' should be the training file of a set, NAME{_TRAIN}, beside its NAME{_TEST}")
    other = path.with_name(path.name.removesuffix(_TRAIN) + _TEST)
    files = [File(one, read(one)) for one in (path, other)]
    digest = hashlib.sha256(b"".join(hashlib.sha256(one.content).digest() for one in files)).hexdigest()
    return files[0], files[1], Source(str(path.parent), digest, None)


def _parsed(file: File) -> tuple[list[np.ndarray], np.ndarray, tuple[str, ...]]:
    """Return the series, each of shape (time, dimensions), their labels and the names of the classes."""
    path = file.path
    try:
        lines = file.content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"'{path}' should be text in UTF-8, but byte {error.start} is not") from None
    header = _header(path, lines)
    number = {name: place for place, name in enumerate(header.classes)}
    series, labels = [], []
    for line, text in enumerate(lines[header.begin :], header.begin + 1):
        if not text.strip():
            continue
        *dimensions, label = text.strip().split(":")
        if label.strip() not in number:
            raise DataError(
                f"line {line} of '{path}' should end in one of the classes {', '.join(header.classes)}, but ends in "
                f"{label.strip()[:40]!r}"
            )
        series.append(_series(path, line, dimensions, header))
        labels.append(number[label.strip()])
    if not series:
        raise DataError(f"'{path}' holds no series behind @data")
    return series, np.array(labels, np.int32), header.classes


def _header(path: Path, lines: list[str]) -> _Header:
    keys: dict[str, str] = {}
    for place, line in enumerate(lines):
        key, _, value = line.strip().partition(" ")
        if key.lower() == "@data":
            break
        if key.startswith("@"):
            keys[key[1:].lower()] = value.strip()
        elif key and key[0] not in "#%":
            raise DataError(f"line {place + 1} of '{path}' should be a header line @key, but is {line.strip()[:40]!r}")
    else:
        raise DataError(f"'{path}' has no line @data: it is not a .ts file, or ends before its data")
    flag, *classes = keys.get("classlabel", "false").split()
    if flag.lower() != "true" or len(classes) < 2 or len(set(classes)) < len(classes):
        raise DataError(f"'{path}' should name its classes, two or more, in a line @classLabel true and their names")
    if keys.get("timestamps", "false").lower() == "true":
        raise DataError(f"'{path}' has time stamps, which are not read: series must be sampled evenly")
    return _Header(keys, tuple(classes), place + 1)


def _series(path: Path, line: int, dimensions: list[str], header: _Header) -> np.ndarray:
    columns = [_dimension(path, line, place, text) for place, text in enumerate(dimensions, 1)]
    lengths = {len(one) for one in columns}
    one = header.keys.get("univariate", "").lower() == "true"
    wanted = "1" if one else header.keys.setdefault("dimensions", str(len(columns)))
    if not columns or str(len(columns)) != wanted:
        raise DataError(f"line {line} of '{path}' should have {wanted} dimensions, but has {len(columns)}")
    if len(lengths) > 1:
        raise DataError(f"the dimensions of line {line} of '{path}' have lengths from {min(lengths)} to {max(lengths)}")
    if header.keys.get("equallength", "").lower() == "true":
        length = header.keys.setdefault("serieslength", str(len(columns[0])))
        if str(len(columns[0])) != length:
            raise DataError(f"line {line} of '{path}' should have {length} steps, but has {len(columns[0])}")
    return np.stack(columns, 1)


def _dimension(path: Path, line: int, place: int, text: str) -> np.ndarray:
    cells = text.split(",")
    with np.errstate(over="ignore"):  # what float32 does not hold is not finite
        try:
            values = np.array(cells, np.float32)
        except ValueError:
            values = np.array([_number(cell) for cell in cells], np.float32)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise DataError(
            f"line {line}, dimension {place}, value {bad[0] + 1} of '{path}' should be a finite number, but is "
            f"{cells[bad[0]].strip()[:40]!r}"
        )
    return values


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


def _padded(series: list[np.ndarray], longest: int) -> tuple[np.ndarray, np.ndarray]:
    inputs = np.zeros((len(series), longest, series[0].shape[1]), np.float32)
    for row, one in enumerate(series):
        inputs[row, : len(one)] = one
    return inputs, np.array([len(one) for one in series], np.int32)
