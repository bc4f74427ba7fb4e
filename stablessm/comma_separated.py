"""The rows of a CSV file, or the sentence that says why there are none."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import NamedTuple


class Rows(NamedTuple):
    """A table as it is written.

    Attributes:
        names: of its columns; None where it begins with numbers.
        body: number of the line and its cells, all rows of one length.
        columns: their number.
    """

    names: list[str] | None
    body: list[tuple[int, list[str]]]
    columns: int


def csv_rows(path: Path, content: bytes, error: type[ValueError]) -> Rows:
    """Return the rows of a CSV file: commas, UTF-8, its first row names where one of its cells is no number.

    Args:
        path: for sentences.
        content: of the file.
        error: what is raised.

    Raises:
        ValueError: as `error`, naming the line: not CSV, empty, a line that is empty or of another length, or no row
            of numbers.
    """
    try:
        text = content.decode("utf-8-sig")
        lines = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
        rows = [(lines.line_num, [cell.strip() for cell in row]) for row in lines]
    except (UnicodeDecodeError, csv.Error) as reason:
        raise error(f"the file '{path}' is not CSV in UTF-8: {reason}") from None
    while rows and not any(rows[-1][1]):
        rows.pop()
    if not rows:
        raise error(f"the file '{path}' is empty")
    first = rows[0][1]
    names = first if any(number(cell) is None for cell in first) else None
    body = rows[1:] if names else rows
    for line, row in body:
        if not any(row):
            raise error(f"line {line} of '{path}' is empty: a series has no gaps")
        if len(row) != len(first):
            raise error(f"line {line} of '{path}' has {len(row)} columns, but the first has {len(first)}")
    if not body:
        raise error(f"the file '{path}' holds names of columns, but no samples")
    return Rows(names, body, len(first))


def number(cell: str) -> float | None:
    """Return the number a cell stands for: NaN for "na", None where it stands for none."""
    try:
        return float(cell) if "_" not in cell else None
    except ValueError:
        return math.nan if cell.lower() in ("na", "n/a") else None
