"""What a store holds, in the order of the cells of its sweep, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stablessm.netcdf import BLOCK, Region
from stablessm.sweeps.layout import DONE
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.store import Store


class Results:
    """Reads work items as they are wanted, and holds on to the latest.

    Attributes:
        status: of every cell, int8 of shape (cells,).
    """

    def __init__(self, plan: Plan, store: Store) -> None:
        """Read the status.

        Raises:
            StoreError: a damaged store.
        """
        self._plan, self._store = plan, store
        valid = plan.rows >= 0
        self._row_of = np.empty(plan.cells, np.int64)
        self._row_of[plan.rows[valid]] = np.flatnonzero(valid)
        self._done = store.status() == DONE
        self.status = store.read("status")[self._row_of]
        self._latest: tuple[str, range, np.ndarray] | None = None

    def cells(self, name: str, first: int, last: int) -> np.ndarray:
        """Return a variable of the cells from the first to the one before the last, shape (last - first, *inner).

        Raises:
            StoreError: a chunk that is damaged, or missing although its work item is done.
        """
        layout, chunk = self._store.layout, self._store.chunk
        rows = self._row_of[first:last]
        found = np.empty((len(rows), *layout.shape(name)), layout.variables[name].dtype)
        for items in self._together(name, np.unique(rows // chunk)):
            here = (rows >= items.start * chunk) & (rows < items.stop * chunk)
            found[here] = self._items(name, items)[rows[here] - items.start * chunk]
        return found

    def region(self, name: str, region: Region) -> np.ndarray:
        """Return a block of a variable as the dataset lays it out: axes of the sweep, then inner dimensions."""
        count = len(self._plan.shape)
        size = np.array([one.stop - one.start for one in region[:count]], int)
        first = int(np.ravel_multi_index([one.start for one in region[:count]], self._plan.shape)) if count else 0
        last = first + int(size.prod())
        values = self.status[first:last] if name == "status" else self.cells(name, first, last)
        return values.reshape(*size, *values.shape[1:])[(..., *region[count:])]

    def _together(self, name: str, items: np.ndarray) -> Iterator[range]:
        """Work items in runs that follow one another and are read in one go: those of a block at most."""
        one = self._store.chunk * self._store.layout.bytes_of(name)
        most = max(1, BLOCK // max(1, one))
        start = 0
        while start < len(items):
            stop = start + 1
            while stop < min(len(items), start + most) and items[stop] == items[stop - 1] + 1:
                stop += 1
            yield range(int(items[start]), int(items[stop - 1]) + 1)
            start = stop

    def _items(self, name: str, items: range) -> np.ndarray:
        if self._latest is None or self._latest[:2] != (name, items):
            self._latest = None  # let go of it first
            self._latest = name, items, self._store.read(name, items, self._done)
        return self._latest[2]
