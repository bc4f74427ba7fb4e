"""The store of a running sweep: a zarr v3 folder that survives a kill at any moment.

One array a variable, its leading dimension the padded cells, chunked by exactly one work item, so that every chunk has
one owner. A work item writes its variables first, pushes them to the disk, and writes its chunk of `status` last: what
`status` calls done is whole. Every chunk carries a CRC-32C, so that a flipped byte is an error and not a number; one
that a power cut has cut short is computed again. The declaration and the layout lie beside the arrays in `sweep.json`;
the folder appears by a rename once all of it is there.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import Crc32cCodec

from stablessm.datasets import sweep_stale
from stablessm.measurements.base import Variable
from stablessm.sweeps.carry import Part, carry
from stablessm.sweeps.errors import StoreError, WriteError, first_line
from stablessm.sweeps.header import HEADER, Header, header_of, layout_of, read_header, tables_of
from stablessm.sweeps.layout import DONE, FAILED, PENDING, STATUS, Layout, fill_value
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.spec import Spec, difference

_FAILURES, _PIECES = "failures", "pieces"
_CHECKSUM = 4  # bytes
_to_disk = getattr(os, "fdatasync", os.fsync)


class Store:
    """An open store; make one with `create` or `open_store`, and hold `locked` while writing.

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
        with _named(path), zarr.config.set({"array.write_empty_chunks": True}):
            group = zarr.open_group(str(path), mode="r+", zarr_format=3, use_consolidated=False)
            self._arrays = {name: group[name] for name in (*layout.variables, "status")}
            for name, variable in {**layout.variables, "status": STATUS}.items():
                array, inner = self._arrays[name], layout.shape(name) if name != "status" else ()
                laid_out = array.shape, array.chunks, array.dtype
                if laid_out != ((self.items * self.chunk, *inner), (self.chunk, *inner), np.dtype(variable.dtype)):
                    raise ValueError(f"the array {name} is laid out in another way")

    def status(self) -> np.ndarray:
        """Return the status of every work item, int8 of shape (items,): done where each of its cells is."""
        with _named(self.path):
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
        with _disk(self.path):
            for name in self.layout.variables:
                self._arrays[name][self._cells(item)] = values[name]
            # Side by side: the disk takes them in one go, in a third of the time.
            list(self._pushing.map(_push, [self._chunk(name, item) for name in self.layout.variables]))
            self._arrays["status"][self._cells(item)] = status
            self._file_of(_FAILURES, item).unlink(missing_ok=True)

    def mend(self) -> list[int]:
        """Set back to pending what a power cut has cut short: chunks that are not there, or shorter than they must be.

        Returns:
            The numbers of the work items that are to be computed again; hold `locked` meanwhile.
        """
        cut = []
        with _named(self.path), _disk(self.path):
            for number in range(self.items):
                if _is_cut(self._chunk("status", number), self.chunk):
                    self._chunk("status", number).unlink()
            for number in np.flatnonzero(self.status() == DONE).tolist():
                for name, one in self.layout.variables.items():
                    size = self.chunk * math.prod(self.layout.shape(name)) * np.dtype(one.dtype).itemsize
                    file = self._chunk(name, number)
                    if not file.is_file() or _is_cut(file, size):
                        self._chunk("status", number).unlink()
                        file.unlink(missing_ok=True)
                        cut.append(number)
                        break
        return cut

    def fail(self, item: int, reason: str) -> None:
        """Mark a work item failed, with the reason beside it.

        Raises:
            WriteError: the disk refuses; the item stays pending.
        """
        self._note(_FAILURES, item, reason)
        with _disk(self.path):
            self._arrays["status"][self._cells(item)] = FAILED

    def read(self, name: str, done: np.ndarray | None = None) -> np.ndarray:
        """Return a variable of all padded cells, shape (items * chunk, *inner); fill values where not done.

        Args:
            name: which variable.
            done: numbers of the work items that are done; read from `status` by default.

        Raises:
            StoreError: a chunk that is damaged, or missing although its work item is done.
        """
        with _named(self.path):
            array = self._arrays[name]
            if done is None:
                done = np.flatnonzero(self.status() == DONE) if name != "status" else np.zeros(0, int)
            for item in done:
                chunk = self._chunk(name, int(item))
                if not chunk.is_file():
                    raise FileNotFoundError(f"the file {chunk.relative_to(self.path)} is missing")
            try:
                return np.asarray(array[:])
            except Exception as error:
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
        with _named(self.path):
            return {item: int(text) for item, text in self._notes(_PIECES).items()}

    def _note(self, kind: str, item: int, text: str) -> None:
        file = self._file_of(kind, item)
        with _disk(self.path):
            file.parent.mkdir(exist_ok=True)
            temporary = file.with_suffix(".partial")
            temporary.write_text(text)
            os.replace(temporary, file)

    def _notes(self, kind: str) -> dict[int, str]:
        with _named(self.path):
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


def create(path: Path, plan: Plan, layout: Layout, parts: Sequence[Part] = ()) -> Store:
    """Make the store of a sweep; the folder appears once it is complete, in the place of the one there was.

    Args:
        path: its folder.
        plan: its work.
        layout: its arrays.
        parts: what is done of it already.

    Raises:
        StoreError: the parts contradict one another.
        WriteError: the disk refuses.
    """
    spec, length = plan.spec, plan.items * plan.spec.chunk
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with _disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep_stale(path.parent.glob(f"{path.name}.*.partial"))
        group = zarr.open_group(str(partial), mode="w-", zarr_format=3)
        for name, variable in {**layout.variables, "status": STATUS}.items():
            inner = layout.shape(name) if name != "status" else ()
            group.create_array(
                name,
                shape=(length, *inner),
                chunks=(spec.chunk, *inner),
                dtype=variable.dtype,
                fill_value=PENDING if name == "status" else fill_value(variable.dtype),
                compressors=[Crc32cCodec()],
            )
        (partial / HEADER).write_text(
            json.dumps(header_of(plan, layout).model_dump(), indent=1, sort_keys=True, ensure_ascii=False)
        )
    try:
        if parts:
            carry(parts, Store(partial, layout, plan))
        with _disk(path):
            if path.exists():
                os.rename(path, _before(path))
            os.rename(partial, path)
            shutil.rmtree(_before(path), ignore_errors=True)
    except (StoreError, WriteError):
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return Store(path, layout, plan)


def recover(path: Path) -> None:
    """Put back a store whose run was killed in the moment between setting it aside and putting its successor there."""
    with _disk(path):
        if _before(path).is_dir():
            if os.path.lexists(path):
                shutil.rmtree(_before(path))
            else:
                os.rename(_before(path), path)


def open_store(path: Path, spec: Spec, variables: Mapping[str, Variable], header: Header | None = None) -> Store:
    """Open the store of this very sweep, to go on with it.

    Args:
        path: its folder.
        spec: the sweep asked for.
        variables: the variables it must hold.
        header: what `read_header` said of it, where it has been asked.

    Raises:
        StoreError: the folder is damaged or foreign, or holds another sweep; the difference is in the sentence.
    """
    header = read_header(path) if header is None else header
    if header.digest != spec.digest or header.variables != tables_of(variables):
        with _named(path):
            lines = difference(header.spec, spec.document()) or ["the program's own maps or variables changed"]
        raise StoreError(
            f"'{path}' holds a different sweep ({'; '.join(lines)}): "
            "give --fresh to replace it, or --out for another folder."
        )
    with _named(path):
        layout, plan = layout_of(header, variables), Plan(spec, tuple(header.earlier))
        plan.runs  # noqa: B018  (checks the earlier grids)
    return Store(path, layout, plan)


def remove(path: Path) -> None:
    """Delete a store, after making sure that it is one and that nobody writes it.

    Raises:
        StoreError: the folder is foreign, or in use.
        WriteError: the disk refuses.
    """
    read_header(path)
    with locked(path), _disk(path):
        sweep_stale(path.parent.glob(f"{path.name}.*.partial"))
        grave = path.with_name(f"{path.name}.{os.getpid()}.partial")
        os.rename(path, grave)
        shutil.rmtree(grave)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Own the store for the duration, so that no two runs write it; a killed run lets go by dying.

    What a killed run left half-written is swept first.

    Raises:
        StoreError: another run owns it.
    """
    with open(path / HEADER) as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except OSError:
            raise StoreError(f"'{path}' is being written by another run; wait for it, or give --out.") from None
        with _disk(path):
            sweep_stale(path.rglob("*.partial"))
        yield


def _before(path: Path) -> Path:
    return path.with_name(f"{path.name}.before")


def _chosen(kept: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(kept.reshape(-1, *(1,) * (old.ndim - 1)), old, new)


def _push(file: Path) -> None:
    """Push what a file holds to the disk."""
    handle = os.open(file, os.O_RDONLY)
    try:
        _to_disk(handle)
    finally:
        os.close(handle)


def _is_cut(file: Path, size: int) -> bool:
    """Whether a chunk of `size` bytes and its checksum is there, but not whole."""
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_size < size + _CHECKSUM
    return False


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn whatever zarr raises on a damaged folder into one sentence."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        detail = str(error).strip().splitlines()
        reason = detail[0].rstrip(".") if detail else type(error).__name__
        raise StoreError(f"'{path}' is damaged ({reason}); it is not overwritten, move it away first.") from None


@contextlib.contextmanager
def _disk(path: Path) -> Iterator[None]:
    """Turn a refusal of the disk into one sentence."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"'{path}' cannot be written: {error.strerror or error}; what is done is kept.") from None
