"""What is done of one sweep carried over into the store of another: one that has grown from it, or several joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.growth import places_in
from stablessm.sweeps.layout import DONE, PENDING, Layout
from stablessm.sweeps.plan import Plan

if TYPE_CHECKING:
    import xarray as xr

    from stablessm.measurements.base import Variable
    from stablessm.sweeps.store import Store


class Part(NamedTuple):
    """Results of a sweep, from its store or from its dataset.

    Attributes:
        where: the file or folder, for a sentence.
        plan: its work.
        layout: its arrays.
        status: of each row, int8 of shape (rows,).
        read: variable -> its rows.
    """

    where: str
    plan: Plan
    layout: Layout
    status: np.ndarray
    read: Callable[[str], np.ndarray]


def part_of_store(store: Store) -> Part:
    """Return what is done in a store."""
    return Part(str(store.path), store.plan, store.layout, store.read("status"), store.read)


def part_of_dataset(where: str, dataset: xr.Dataset, plan: Plan, variables: Mapping[str, Variable]) -> Part:
    """Return what is done in a dataset.

    Args:
        where: its file.
        dataset: of a sweep.
        plan: its work.
        variables: what it holds of each cell.

    Raises:
        StoreError: it lacks a variable, or its shape is not that of its sweep.
    """

    def rows(name: str) -> np.ndarray:
        values, inner = dataset[name].values, variables[name].dims if name in variables else ()
        if dataset[name].dims != (*plan.spec.axes, *inner) or values.shape[: len(plan.shape)] != plan.shape:
            raise StoreError(f"'{where}': the variable '{name}' has not the shape of its sweep.")
        return values.reshape(plan.cells, *values.shape[len(plan.shape) :])[np.maximum(plan.rows, 0)]

    missing = [name for name in (*variables, "status") if name not in dataset.data_vars]
    if missing:
        raise StoreError(f"'{where}' lacks the variable '{missing[0]}' of its sweep.")
    inner = {dimension for one in variables.values() for dimension in one.dims}
    layout = Layout(variables, {name: dataset[name].values for name in sorted(inner)})
    return Part(where, plan, layout, np.where(plan.rows >= 0, rows("status"), PENDING), rows)


def carry(parts: Sequence[Part], store: Store) -> None:
    """Write what is done in the parts into a store that is new; the rest stays pending.

    Raises:
        StoreError: two parts hold different values of one cell, or a part is laid out in another way.
    """
    rows, chunk = store.plan.rows, store.chunk
    found = {name: store.layout.blank(name, len(rows)) for name in store.layout.variables}
    status = np.full(len(rows), PENDING, np.int8)
    row_of = np.full(store.plan.cells, -1, np.int64)
    row_of[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    for place, part in enumerate(parts):
        _check_layout(part, store)
        mine = np.flatnonzero((part.status == DONE) & (part.plan.rows >= 0))
        to = row_of[_cells_in(part.plan, store.plan)[part.plan.rows[mine]]]
        twice = status[to] == DONE
        for name, into in found.items():
            values = part.read(name)[mine]
            inner = tuple(slice(size) for size in values.shape[1:])
            there = into[(to[twice], *inner)]
            if there.tobytes() != values[twice].astype(into.dtype).tobytes():
                others = " and ".join(f"'{one.where}'" for one in parts[: place + 1])
                raise StoreError(f"{others} hold different values of '{name}' for the same cell; nothing is written.")
            into[(to, *inner)] = values
        status[to] = DONE
    for number in np.unique(np.flatnonzero(status == DONE) // chunk).tolist():
        here = slice(number * chunk, (number + 1) * chunk)
        store.adopt(number, {name: values[here] for name, values in found.items()}, status[here])


def _cells_in(old: Plan, new: Plan) -> np.ndarray:
    """Return, for each cell of the old plan, the cell of the new one."""
    grid = places_in(old.spec, new.spec)
    assert grid is not None
    places = np.meshgrid(*(np.asarray(grid[name]) for name in new.spec.axes), indexing="ij")
    return np.ravel_multi_index(places, new.shape).reshape(-1)


def _check_layout(part: Part, store: Store) -> None:
    for name, one in store.layout.variables.items():
        other = part.layout.variables.get(name)
        same = other is not None and (other.dims, other.flags) == (one.dims, one.flags)
        if not same or not np.can_cast(np.dtype(other.dtype), np.dtype(one.dtype), "safe"):
            raise StoreError(f"'{part.where}' holds another variable '{name}' than the sweep it is part of.")
    for name, values in store.layout.coordinates.items():
        other_values: Any = part.layout.coordinates.get(name)
        if other_values is None or not np.array_equal(values[: len(other_values)], other_values):
            raise StoreError(f"'{part.where}' has another coordinate '{name}' than the sweep it is part of.")
