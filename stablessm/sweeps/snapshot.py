"""How far a sweep is, read from its store while another process writes it. Takes no lock, and imports no JAX."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zarr

from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.disk import is_refusal, named
from stablessm.sweeps.errors import StoreError, first_line, ours
from stablessm.sweeps.header import HEADER, read_header
from stablessm.sweeps.layout import DONE, FAILED, variables_of
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.progress import Progress
from stablessm.sweeps.stores import open_store

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement


class Snapshot(NamedTuple):
    """What a store says of its sweep.

    Attributes:
        progress: the count, all of it as of one run.
        running: whether a process is writing it; None where the system does not say.
    """

    progress: Progress
    running: bool | None

    @property
    def over(self) -> bool:
        """Whether nothing is left to wait for: all is done or failed, or nobody is at it."""
        count = self.progress
        return count.done + count.failed >= count.cells or self.running is False


def snapshot(path: Path, measurements: Mapping[str, Measurement] | None = None) -> Snapshot:
    """Look at a store; a work item that is just being written counts as not done.

    Args:
        path: its folder.
        measurements: the registry; the package's own by default.

    Raises:
        StoreError: the folder is damaged or foreign.
        SpecError: a sweep that this version cannot read.
    """
    header = read_header(path)
    plan = Plan(load_spec(header.spec, measurements=measurements), tuple(header.earlier))
    try:
        valid = plan.rows >= 0
        group = zarr.open_group(path, mode="r", zarr_format=3, use_consolidated=False)
        status = np.asarray(group["status"][:])[valid]
        done, failed = (int((status == code).sum()) for code in (DONE, FAILED))
        progress = Progress(plan.cells, done=done, failed=failed)
        flags = header.variables.get("outcome", {}).get("flags", ())
        if flags and done:
            codes = np.asarray(group["outcome"][:])[valid][status == DONE].reshape(-1)
            progress.outcomes.update(flags[code] for code in codes.tolist() if 0 <= code < len(flags))
    except Exception as error:  # whatever zarr and a strange header raise
        if ours(error):
            raise
        if is_refusal(error):
            with named(path):
                raise
        raise StoreError(f"'{path}' is damaged ({first_line(error)}).") from None
    return Snapshot(progress, _is_written(path))


def lost(path: Path, measurements: Mapping[str, Measurement] | None = None) -> str:
    """Say which results a store lacks although it calls them done; empty where it lacks none.

    Args:
        path: its folder.
        measurements: the registry; the package's own by default.

    Raises:
        StoreError: the folder is damaged or foreign.
        SpecError: a sweep that this version cannot read.
    """
    if measurements is None:
        from stablessm.measurements import MEASUREMENTS as measurements
    header = read_header(path)
    spec = load_spec(header.spec, measurements=measurements)
    measurement = measurements[spec.measurement]
    variables = variables_of(spec, measurement.variables(measurement.settings(**spec.settings)))
    store = open_store(path, spec, variables, header)
    gone = store.lost()
    if not gone:
        return ""
    first = next(iter(gone.values())).relative_to(path)
    return f"'{path.name}' has lost results of {len(gone)} of {store.items} work items ({first})"


def _is_written(path: Path) -> bool | None:
    """Whether somebody holds the lock of a store: asked of the system, for to try it would be in the way of a run."""
    try:
        about, locks = (path / HEADER).stat(), Path("/proc/locks").read_text()
    except OSError:
        return None
    held = (line.split() for line in locks.splitlines() if "FLOCK" in line)
    return any(word.endswith(f":{about.st_ino}") for words in held for word in words)
