"""ListOps: nested operations on digits as tokens, and the digit they come to, from the tables of Long Range Arena."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.content import File, contents
from stablessm.data.images import check_classes
from stablessm.data.places import find
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError

SYMBOLS = ("", "[MIN", "[MAX", "[MED", "[SM", "]", *map(str, range(10)))
"""The tokens by number, the first a blank behind the end. Parentheses, which only repeat the nesting, are left out."""

_NUMBER = {symbol: place for place, symbol in enumerate(SYMBOLS)}
_SKIPPED = ("(", ")")


def load_list_operations(name: str, folder: str | Path | None = None, *, longest: int = 2048) -> Classification:
    """Load the three official splits.

    Args:
        name: key of `DATA_SETS`.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
        longest: tokens of a row at most; a longer one is refused, for what it comes to cannot be told from its start.

    Raises:
        DataError: missing files, another table, an unknown symbol, or an option out of range.
    """
    if not 1 <= longest <= 2**20:
        raise DataError(f"`longest` must lie from 1 to {2**20}, but got {longest}")
    known = DATA_SETS[name]
    parts, source = contents(known, find(known, folder))
    tables = [table(files[0], longest) for files in parts]
    time = max(int(one.lengths.max()) for one in tables)
    train, validation, test = (
        one._replace(inputs=np.pad(one.inputs, ((0, 0), (0, time - one.inputs.shape[1])))) for one in tables
    )
    check_classes(known, train.targets)
    return Classification(name, train, validation, test, known.labels, source, tokens=len(SYMBOLS))


def table(file: File, longest: int = 2048) -> Examples:
    """Return the rows of a table.

    Args:
        file: tab-separated, with the columns Source and Target.
        longest: as in `load_list_operations`.

    Raises:
        DataError: as there.

    Example:
        >>> made = table(File(Path("one.tsv"), b"Source\\tTarget\\n( ( [MAX 2 ) 9 ) ]\\t9\\n"))
        >>> [SYMBOLS[one] for one in made.inputs[0]], int(made.targets[0])
        (['[MAX', '2', '9', ']'], 9)
    """
    try:
        lines = file.content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"'{file.path}' is not text: {error.reason} at byte {error.start}") from None
    if not lines or lines[0].split("\t") != ["Source", "Target"] or len(lines) < 2:
        raise DataError(f"'{file.path}' should be a table with the columns Source and Target, and rows")
    rows, targets = [], []
    for number, line in enumerate(lines[1:], 2):
        source, tab, target = line.rpartition("\t")
        symbols = [one for one in source.split() if one not in _SKIPPED]
        unknown = next((one for one in symbols if one not in _NUMBER), None)
        if not tab or not symbols or unknown is not None or target not in SYMBOLS[6:]:
            wrong = f"the symbol {unknown!r}" if unknown is not None else f"{line[:40]!r}"
            raise DataError(f"line {number} of '{file.path}' should be operations, a tab and a digit, but has {wrong}")
        if len(symbols) > longest:
            raise DataError(f"line {number} of '{file.path}' has {len(symbols)} tokens, but `longest` is {longest}")
        rows.append([_NUMBER[one] for one in symbols])
        targets.append(int(target))
    lengths = np.array(list(map(len, rows)), np.int32)
    inputs = np.zeros((len(rows), int(lengths.max())), np.int8)
    for place, row in enumerate(rows):
        inputs[place, : len(row)] = row
    return Examples(inputs, np.array(targets, np.int32), lengths)
