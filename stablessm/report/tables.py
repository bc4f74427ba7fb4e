"""Datasets as the tables of a page: a row for each combination of labels, a spread in brackets behind its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stablessm.report.curves import REPLICATES, spreads
from stablessm.tabular import INNER, rows

if TYPE_CHECKING:
    import xarray as xr

MOST_ROWS = 64
_MOST_TABLES = 4
_HIDDEN = ("status", "start_hash")


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what is shown.
        value: what it is sorted by and exported as; the text itself where it is no number.
        low: lower end of its spread, "" where there is none.
        high: upper end.
    """

    text: str
    value: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: of the variable or dimension.
        title: its meaning, and units.
        numeric: whether it is aligned and sorted as numbers.
        spread: whether its cells have one.
        key: whether it is a label of the row.
    """

    name: str
    title: str
    numeric: bool = False
    spread: bool = False
    key: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it is about.
        columns: labels of the row first.
        rows: as many cells each as there are columns.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def tables(dataset: xr.Dataset, caption: str) -> list[Table]:
    """Return the tables of a dataset: one for each set of variables that share their dimensions, of few rows.

    What varies within a cell of a sweep (steps, times) or between replicates is left to the curves.

    Args:
        dataset: an analysis or a raw dataset.
        caption: said above each of them.
    """
    groups: dict[frozenset[str], list[str]] = {}
    for name, one in dataset.data_vars.items():
        dims = frozenset(str(dim) for dim in one.dims if one.sizes[dim] > 1)
        if name in _HIDDEN or one.dtype == np.uint64 or dims & {*INNER, *REPLICATES} or not _is_shown(one):
            continue
        groups.setdefault(dims, []).append(str(name))
    found = [_table(dataset, names, caption) for names in groups.values() if _rows_of(dataset, names) <= MOST_ROWS]
    return [one for one in found if one.rows][:_MOST_TABLES]


def _is_shown(one: xr.DataArray) -> bool:
    return one.dtype.kind in "fiuUO"


def _rows_of(dataset: xr.Dataset, names: list[str]) -> int:
    return int(np.prod([dataset.sizes[dim] for dim in dataset[names].dims]))


def _table(dataset: xr.Dataset, names: list[str], caption: str) -> Table:
    chosen = dataset[names].squeeze(drop=True)
    spread = spreads(names)
    ends = {end for pair in spread.values() for end in pair}
    shown = [name for name in names if name not in ends]
    keys = [str(dim) for dim in chosen.dims if dim != "row"]
    frame = rows(chosen.drop_vars([one for one in chosen.coords if one not in chosen.dims]))
    columns = [_column(dataset, name, key=True) for name in keys]
    columns += [_column(dataset, name, spread=name in spread) for name in shown]
    body = []
    for _, row in frame.iterrows():
        cells = [_cell(row[name]) for name in keys]
        cells += [_cell(row[name], *(row[end] for end in spread.get(name, ()))) for name in shown]
        if any(cell.value not in ("", "nan") for cell in cells[len(keys) :]):
            body.append(tuple(cells))
    return Table(caption, tuple(columns), tuple(body))


def _column(dataset: xr.Dataset, name: str, *, spread: bool = False, key: bool = False) -> Column:
    one = dataset[name] if name in dataset.variables else None
    attrs = one.attrs if one is not None else {}
    title, units = str(attrs.get("long_name", name)), attrs.get("units", "1")
    numeric = one is None or (one.dtype.kind in "fiu" and "flag_meanings" not in attrs)
    return Column(name, title if units == "1" else f"{title} [{units}]", numeric, spread, key)


def _cell(value: Any, low: Any = None, high: Any = None) -> Cell:
    text = number(value)
    if low is None:
        return Cell(text, _plain(value))
    return Cell(f"{text} [{number(low)}, {number(high)}]", _plain(value), _plain(low), _plain(high))


def number(value: Any) -> str:
    """Return a value as it is read: four significant digits, powers of ten as such, a dash for what is missing."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
        return str(value)
    if not isinstance(value, float | np.floating):
        return str(value).replace("_", " ")
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    mantissa, _, exponent = f"{value:.4g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    raised = str(int(exponent.replace("−", "-"))).translate(_RAISED)
    return f"10{raised}" if mantissa == "1" else f"{mantissa}·10{raised}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
