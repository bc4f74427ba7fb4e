"""The store of a running sweep: a zarr v3 folder that survives a kill at any moment.

One array a variable, its leading dimension the padded cells, chunked by exactly one work item, so that every chunk has
one owner. A work item writes its variables first, pushes them to the disk, and writes its chunk of `status` last: what
`status` calls done is whole. Every chunk carries a CRC-32C, so that a flipped byte is an error and not a number; one
that a power cut has cut short is computed again. How the folder comes and goes is in `stores`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import zarr

from stablessm.sweeps.disk import is_cut, is_refusal, named, push, writing_to
from stablessm.sweeps.errors import StoreError, first_line
from stablessm.sweeps.layout import DONE, FAILED, PENDING, STATUS, Layout
from stablessm.sweeps.plan import Plan

_FAILURES, _PIECES = "failures", "pieces"


class Store:
    """An open store; make one with `stores.create` or `stores.open_store`, and hold `stores.locked` while writing.

    Attributes:
        path: its folder.
        plan: the work whose results it holds.
        layout: the arrays it holds.
        chunk: cells of a work item.
        items: work items it has room for.
    """

    def __init__(self, path: Path, layout: Layout, plan: Plan) -> None:
        """Open the arrays of the folder at `path`."""
        self.path, self.plan, self.layout, self.chunk, self.items = path, plan, layout, plan.spec.chunk, plan.items
        self._pushing = ThreadPoolExecutor(8, "push")
        # A chunk of nothing but fill values is written too, so that a missing file always means a lost one.
        with named(path), zarr.config.set({"array.write_empty_chunks": True}):
            group = zarr.open_group(path, mode="r+", zarr_format=3, use_consolidated=False)
            self._arrays = {name: _array(group, name) for name in (*layout.variables, "status")}
            for name, variable in {**layout.variables, "status": STATUS}.items():
                array, inner = self._arrays[name], layout.shape(name) if name != "status" else ()
                laid_out = array.shape, array.chunks, array.dtype
                if laid_out != ((self.items * self.chunk, *inner), (self.chunk, *inner), np.dtype(variable.dtype)):
                    raise ValueError(f"the array {name} is laid out in another way")

    def status(self) -> np.ndarray:
        """Return the status of every work item, int8 of shape (items,): done where each of its cells is."""
        with named(self.path):
            cells = np.asarray(self._arrays["status"][:])
            if not np.isin(cells, range(len(STATUS.flags))).all():
                raise ValueError("a status in it has no meaning")
            cells = np.where(self.plan.rows < 0, DONE, cells).reshape(self.items, self.chunk)
            failed = (cells == FAILED).any(1)
            return np.where((cells == DONE).all(1), DONE, np.where(failed, FAILED, PENDING)).astype(np.int8)

    def write(self, item: int, values: Mapping[str, np.ndarray], *, pieces: int = 1) -> None:
        """Store the results of a work item, then mark it done. A cell that was done before keeps its values.

        Args:
            item: its number.
            values: for every variable of the layout, an array of shape (chunk, *inner).
            pieces: in how many they were computed; more than one is kept as a note, for the last bits depend on it.

        Raises:
            StoreError: a shape that would leave the item's own chunk.
            WriteError: the disk refuses; the item stays pending.
        """
        for name in self.layout.variables:
            if values[name].shape != (self.chunk, *self.layout.shape(name)):
                raise StoreError(
                    f"'{self.path}': the array '{name}' of work item {item} has the shape {values[name].shape}."
                )
        kept = np.asarray(self._arrays["status"][self._cells(item)]) == DONE
        if kept.any():
            old = {name: np.asarray(self._arrays[name][self._cells(item)]) for name in self.layout.variables}
            values = {name: _chosen(kept, old[name], values[name]) for name in self.layout.variables}
        if pieces > 1:
            self._note(_PIECES, item, str(pieces))
        self.adopt(item, values, np.full(self.chunk, DONE, np.int8))

    def adopt(self, item: int, values: Mapping[str, np.ndarray], status: np.ndarray) -> None:
        """Store the results of a work item of which some cells may be pending.

        Args:
            item: its number.
            values: for every variable of the layout, an array of shape (chunk, *inner).
            status: of each cell, int8 of shape (chunk,).

        Raises:
            WriteError: the disk refuses; the item stays as it was.
        """
        with writing_to(self.path):
            for name in self.layout.variables:
                self._arrays[name][self._cells(item)] = values[name]
            # Side by side: the disk takes them in one go, in a third of the time.
            list(self._pushing.map(push, [self._chunk(name, item) for name in self.layout.variables]))
            self._arrays["status"][self._cells(item)] = status
            self._file_of(_FAILURES, item).unlink(missing_ok=True)

    def mend(self) -> list[int]:
        """Set back to pending what a power cut has cut short: chunks that are not there, or shorter than they must be.

        Returns:
            The numbers of the work items that are to be computed again; hold `locked` meanwhile.
        """
        with named(self.path):
            short = [one for one in range(self.items) if is_cut(self._chunk("status", one), self.chunk)]
        with writing_to(self.path):
            for number in short:
                self._chunk("status", number).unlink()
            lost = self.lost()
            for number, file in lost.items():
                self._chunk("status", number).unlink()
                file.unlink(missing_ok=True)
        return list(lost)

    def lost(self) -> dict[int, Path]:
        """Return the work items called done of which a chunk is not there or shorter than it must be, and which.

        Raises:
            StoreError: the store is damaged.
        """
        sizes = {name: self.chunk * self.layout.bytes_of(name) for name in self.layout.variables}
        lost = {}
        with named(self.path):
            for number in np.flatnonzero(self.status() == DONE).tolist():
                for name, size in sizes.items():
                    file = self._chunk(name, number)
                    if not file.is_file() or is_cut(file, size):
                        lost[number] = file
                        break
        return lost

    def fail(self, item: int, reason: str) -> None:
        """Mark a work item failed, with the reason beside it.

        Raises:
            WriteError: the disk refuses; the item stays pending.
        """
        self._note(_FAILURES, item, reason)
        with writing_to(self.path):
            self._arrays["status"][self._cells(item)] = FAILED

    def read(self, name: str, items: range | None = None, done: np.ndarray | None = None) -> np.ndarray:
        """Return a variable of the padded cells of work items, shape (items * chunk, *inner); fill values if not done.

        Args:
            name: which variable.
            items: numbers of work items that follow one another; all by default.
            done: whether each work item of the sweep is done; asked of `status` by default.

        Raises:
            StoreError: a chunk that is damaged, or missing although its work item is done.
        """
        items = range(self.items) if items is None else items
        with named(self.path):
            if done is None:
                done = self.status() == DONE
            for item in items if name != "status" else ():
                chunk = self._chunk(name, item)
                if done[item] and not chunk.is_file():
                    raise FileNotFoundError(f"the file {chunk.relative_to(self.path)} is missing")
            try:
                return np.asarray(self._arrays[name][items.start * self.chunk : items.stop * self.chunk])
            except Exception as error:
                if is_refusal(error):
                    raise
                raise ValueError(self._where_damaged(name) or first_line(error)) from None

    def failures(self) -> dict[int, str]:
        """Return the reason of every failed work item.

        Raises:
            StoreError: a file among the reasons that is none.
        """
        return self._notes(_FAILURES)

    def pieces(self) -> dict[int, int]:
        """Return, for every work item for which memory ran out, in how many pieces it was computed.

        Raises:
            StoreError: a file among the notes that is none.
        """
        with named(self.path):
            return {item: int(text) for item, text in self._notes(_PIECES).items()}

    def _note(self, kind: str, item: int, text: str) -> None:
        file = self._file_of(kind, item)
        with writing_to(self.path):
            file.parent.mkdir(exist_ok=True)
            temporary = file.with_suffix(".partial")
            temporary.write_text(text)
            os.replace(temporary, file)

    def _notes(self, kind: str) -> dict[int, str]:
        with named(self.path):
            found = (self.path / kind).glob("*.txt")
            return dict(sorted((int(path.stem), path.read_text()) for path in found))

    def _where_damaged(self, name: str) -> str:
        """Name the first chunk of a variable that cannot be read, and what to do about it."""
        for item in range(self.items):
            try:
                self._arrays[name][self._cells(item)]
            except Exception as error:
                file = self._chunk(name, item).relative_to(self.path)
                return f"the file {file}: {first_line(error)}; without that file the work item is computed again"
        return ""

    def _chunk(self, name: str, item: int) -> Path:
        array = self._arrays[name]
        return self.path / name / array.metadata.encode_chunk_key((item, *(0,) * (array.ndim - 1)))

    def _cells(self, item: int) -> slice:
        return slice(item * self.chunk, (item + 1) * self.chunk)

    def _file_of(self, kind: str, item: int) -> Path:
        return self.path / kind / f"{item}.txt"


def _array(group: zarr.Group, name: str) -> zarr.Array:
    found = group.get(name)
    if not isinstance(found, zarr.Array):
        raise ValueError(f"the array {name} is missing")
    return found


def _chosen(kept: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(kept.reshape(-1, *(1,) * (old.ndim - 1)), old, new)
