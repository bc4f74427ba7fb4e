"""How the folder of a store comes and goes: made, found again, owned by one run at a time, removed.

The declaration and the layout lie beside the arrays in `sweep.json`; the folder appears by a rename once all of it is
there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import Crc32cCodec

from stablessm.measurements.base import Variable
from stablessm.sweeps.carry import Part, carry
from stablessm.sweeps.disk import named, writing_to
from stablessm.sweeps.errors import StoreError, WriteError, another_sweep
from stablessm.sweeps.header import HEADER, Header, header_of, layout_of, read_header, tables_of
from stablessm.sweeps.layout import PENDING, STATUS, Layout, fill_value
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.spec import Spec, difference
from stablessm.sweeps.store import Store
from stablessm.writing import at_work, sweep_stale


def create(path: Path, plan: Plan, layout: Layout, parts: Sequence[Part] = (), *, replace: bool = False) -> Store:
    """Make the store of a sweep; the folder appears once it is complete.

    Args:
        path: its folder.
        plan: its work.
        layout: its arrays.
        parts: what is done of it already.
        replace: whether it takes the place of the one that is there, which is to be `locked` then.

    Raises:
        StoreError: the parts contradict one another, or a folder is there that was not expected.
        WriteError: the disk refuses.
    """
    path = _home(path)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    new_folders = [folder for folder in path.parents if not folder.exists()]
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep_stale(path.parent.glob(f"{path.name}.*.partial"))
        partial.mkdir()
    try:
        with at_work(partial):
            with writing_to(path):
                _lay_out(partial, plan, layout)
            if parts:
                carry(parts, Store(partial, layout, plan))
            with writing_to(path):
                _put(partial, path, replace=replace)
    except (StoreError, WriteError):
        shutil.rmtree(partial, ignore_errors=True)
        for folder in new_folders:
            with contextlib.suppress(OSError):  # something else has come into it
                folder.rmdir()
        raise
    return Store(path, layout, plan)


def _lay_out(partial: Path, plan: Plan, layout: Layout) -> None:
    """Make the arrays and the header in a folder that is empty."""
    chunk, length = plan.spec.chunk, plan.items * plan.spec.chunk
    group = zarr.open_group(partial, mode="w-", zarr_format=3)
    for name, variable in {**layout.variables, "status": STATUS}.items():
        inner = layout.shape(name) if name != "status" else ()
        group.create_array(
            name,
            shape=(length, *inner),
            chunks=(chunk, *inner),
            dtype=variable.dtype,
            fill_value=PENDING if name == "status" else fill_value(variable.dtype),
            compressors=[Crc32cCodec()],
        )
    (partial / HEADER).write_text(
        json.dumps(header_of(plan, layout).model_dump(), indent=1, sort_keys=True, ensure_ascii=False)
    )


def _put(partial: Path, path: Path, *, replace: bool) -> None:
    """Put a folder that is complete where it belongs."""
    if replace:
        os.rename(path, _before(path))
    try:
        os.rename(partial, path)
    except OSError:
        if os.path.lexists(path):  # a folder that holds something is not renamed over
            raise changed(path) from None
        raise
    shutil.rmtree(_before(path), ignore_errors=True)


def changed(path: Path) -> StoreError:
    """Return the error of a run that finds another one's work where it found none, or an earlier state of it."""
    return StoreError(f"another run has written '{path}' in the meantime; run this one again, or give --out.")


def refuse_changed(store: Store, status: np.ndarray | None = None) -> None:
    """Raise a `StoreError` where a store is not that of its plan any more; hold `locked` meanwhile.

    Args:
        store: opened before it was locked.
        status: of its rows, where these may not have changed either.
    """
    header = read_header(store.path)
    earlier = [{name: list(places) for name, places in grid.items()} for grid in store.plan.earlier]
    same = (header.digest, header.earlier) == (store.plan.spec.digest, earlier)
    if not same or (status is not None and not np.array_equal(store.read("status"), status)):
        raise changed(store.path)


def recover(path: Path) -> None:
    """Put back a store whose run was killed in the moment between setting it aside and putting its successor there."""
    path = _home(path)
    with writing_to(path):
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
        with named(path):
            lines = difference(header.spec, spec.document()) or ["the program's own maps or variables changed"]
        raise another_sweep(path, lines)
    with named(path):
        layout, plan = layout_of(header, variables), Plan(spec, tuple(header.earlier))
        plan.runs  # noqa: B018  (checks the earlier grids)
    return Store(path, layout, plan)


def remove(path: Path) -> None:
    """Delete a store, after making sure that it is one and that nobody writes it.

    Raises:
        StoreError: the folder is foreign, or in use.
        WriteError: the disk refuses.
    """
    path = _home(path)
    read_header(path)
    with locked(path), writing_to(path):
        sweep_stale(path.parent.glob(f"{path.name}.*.partial"))
        grave = path.with_name(f"{path.name}.{os.getpid()}.partial")
        os.rename(path, grave)
        shutil.rmtree(grave)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Own the store for the duration, so that no two runs write it; a killed run lets go by dying.

    What a killed run left half-written is swept first.

    Raises:
        StoreError: another run owns it, or its disk has no locks.
    """
    with named(path):
        file = open(path / HEADER)  # noqa: SIM115  (closed by the next with)
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except BlockingIOError:
            raise StoreError(f"'{path}' is being written by another run; wait for it, or give --out.") from None
        except OSError as error:
            raise StoreError(
                f"'{path}' cannot be locked ({error.strerror}), so two runs could write it: give --out on another disk."
            ) from None
        with writing_to(path):
            sweep_stale(path.rglob("*.partial"))
        yield


def _home(path: Path) -> Path:
    """Return where the folder lies: behind a link it comes and goes on the disk that was chosen, and the link stays."""
    return path.resolve() if path.is_symlink() else path


def _before(path: Path) -> Path:
    return path.with_name(f"{path.name}.before")
