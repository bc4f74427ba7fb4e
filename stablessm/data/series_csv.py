"""A long multivariate series from a CSV file: a row a step, a column a feature."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stablessm.comma_separated import Rows, csv_rows, number
from stablessm.data.content import Source, read
from stablessm.data.records import Series
from stablessm.data.registry import DataError
from stablessm.data.splits import in_order

_LARGEST = float(np.finfo(np.float32).max)


def load_csv(
    name: str | Path,
    folder: str | Path | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    validation: float = 0.1,
    test: float = 0.1,
) -> Series:
    """Load a series; its end is the test part, what comes before that validation.

    Args:
        name: path of a .csv file whose first row may name its columns.
        folder: where the user keeps data; a path is not looked for there.
        columns: names of those that are wanted, also as one text with commas, such as all but a column of dates; all
            by default.
        validation: share of the steps.
        test: share of the steps.

    Raises:
        DataError: no such file, not CSV, rows of several lengths, a cell that is no finite number, an unknown column,
            or too few steps.
    """
    path = Path(name)
    content = read(path)
    table = csv_rows(path, content, DataError)
    names = tuple(table.names or map(str, range(table.columns)))
    wanted = columns.split(",") if isinstance(columns, str) else columns
    places = [_place(path, names, one.strip()) for one in wanted] if wanted else list(range(table.columns))
    values = _values(path, table, names, places)
    if len(values) < 3:
        raise DataError(
            f"'{path}' has {len(values)} row{'s' * (len(values) > 1)} of numbers: a series needs at least 3"
        )
    parts = (values[part] for part in in_order(len(values), validation=validation, test=test))
    source = Source(str(path), hashlib.sha256(content).hexdigest(), None)
    return Series(str(path), *parts, tuple(names[one] for one in places), source)


def _place(path: Path, names: Sequence[str], wanted: str) -> int:
    if names.count(wanted) != 1:
        told = "no column" if wanted not in names else "more than one column"
        raise DataError(f"'{path}' has {told} {wanted!r}; its columns are: {', '.join(names)}")
    return names.index(wanted)


def _values(path: Path, table: Rows, names: Sequence[str], places: Sequence[int]) -> np.ndarray:
    values = np.empty((len(table.body), len(places)), np.float32)
    for step, (line, row) in enumerate(table.body):
        for feature, place in enumerate(places):
            value = number(row[place])
            if value is None or not abs(value) <= _LARGEST:
                raise DataError(
                    f"line {line}, column {place + 1} ({names[place]!r}) of '{path}' should be a finite number, but is "
                    f"{row[place]!r}"
                )
            values[step, feature] = value
    return values
