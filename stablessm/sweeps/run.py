"""Runs what of a sweep is not done yet, by whatever executor, and exports the dataset."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stablessm import datasets
from stablessm.sweeps.assemble import assemble
from stablessm.sweeps.compute import compute
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.executors import Hiring
from stablessm.sweeps.fitting import fitted
from stablessm.sweeps.folders import check
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.progress import Progress, Watcher
from stablessm.sweeps.provenance import provenance
from stablessm.sweeps.resume import look
from stablessm.sweeps.spec import Spec

if TYPE_CHECKING:
    import xarray as xr

    from stablessm.measurements.base import Measurement


class SweepResult(NamedTuple):
    """What a run came to.

    Attributes:
        path: the netCDF file the dataset was saved to.
        computed: cells computed by this run; 0 where all was done before.
        failures: reason of every failed work item, by its number.
        dataset: all of the sweep; None where it was not to be loaded.
    """

    path: Path
    computed: int
    failures: dict[int, str]
    dataset: xr.Dataset | None


def run_sweep(
    spec: Spec | Mapping[str, Any] | str | Path,
    *,
    scale: str = "quick",
    overrides: Iterable[str] = (),
    chunk: int | str | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    fresh: bool = False,
    progress: Watcher | None = None,
    measurements: Mapping[str, Measurement] | None = None,
    executor: str | Executor = "local",
    workers: int | None = None,
    scheduler: str | None = None,
) -> xr.Dataset:
    """Run an experiment, or what is left of it, and return its dataset; see `execute` for the arguments.

    A work item that raised is marked failed in `status`, with the reason in the provenance file; the others go on.

    Example:
        >>> run_sweep("maps", out="results").attrs["measurement"]  # doctest: +SKIP
        'maps'
    """
    dataset = execute(
        spec, scale=scale, overrides=overrides, chunk=chunk, out=out, device=device, fresh=fresh, progress=progress,
        measurements=measurements, executor=executor, workers=workers, scheduler=scheduler,
    ).dataset  # fmt: skip
    assert dataset is not None
    return dataset


def execute(
    spec: Spec | Mapping[str, Any] | str | Path,
    *,
    scale: str = "quick",
    overrides: Iterable[str] = (),
    chunk: int | str | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    fresh: bool = False,
    progress: Watcher | None = None,
    measurements: Mapping[str, Measurement] | None = None,
    executor: str | Executor | Hiring = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    load: bool = True,
) -> SweepResult:
    """Run an experiment, or what is left of it.

    Args:
        spec: a bundled name, the path of a TOML file, a document, or a `Spec`.
        scale: "quick" or "full".
        overrides: texts "axis=v1,v2" or "setting=value".
        chunk: cells in one work item; a stored setting. "auto" fits them to the device. Where a sweep is there
            already its own size is kept, unless another is given here or in `overrides`.
        out: folder of the results; see `places`.
        device: "auto", "cpu" or "gpu".
        fresh: True to replace an earlier sweep of this name, whatever it was.
        progress: called with a `Progress` after the set-up and after every work item.
        measurements: the registry of measurements; the package's own by default.
        executor: "local", "processes", "dask", "slurm", an executor of `concurrent.futures` of your own, or a
            `Hiring`, which holds the next two as well. A script that starts processes needs the usual
            `if __name__ == "__main__":`.
        workers: how many; None for the executor's own choice.
        scheduler: address of a dask scheduler, or "slurm".
        load: False where the dataset is wanted as a file alone: then memory does not grow with the number of cells.

    Returns:
        The dataset, which is also saved as netCDF with its provenance beside it.

    Raises:
        SpecError: a declaration that cannot be run.
        PlaceError: `out` cannot be a folder of results.
        StoreError: a store that is damaged, foreign, in use, or of another sweep.
        DatasetError: a damaged or foreign file where the dataset goes.
        SweepError: no such device or executor, or starts that differ across maps.
        WriteError: the disk refuses; what is done is kept.
    """
    hiring = executor if isinstance(executor, Hiring) else Hiring(executor, workers, scheduler)
    if measurements is None:
        from stablessm.measurements import MEASUREMENTS as measurements
    where = check(out)
    spec = load_spec(spec, scale=scale, overrides=overrides, chunk=chunk, measurements=measurements)
    path, folder = where.dataset(spec.name, spec.scale), where.store(spec.name, spec.scale)
    found = look(spec, path, folder, measurements, fresh=fresh)
    if found.plan.spec.chunk_from == "auto":  # nothing of it is there yet
        spec = fitted(spec, measurements[spec.measurement], device=device, hiring=hiring)
        found = found._replace(plan=Plan(spec))
    measurement, plan, store = measurements[spec.measurement], found.plan, found.store
    began = time.perf_counter()
    if found.saved is not None and found.complete:
        return SweepResult(path, 0, {}, datasets.load(path) if load else None)
    if store is None or not found.computed:
        store, watched, about = compute(found, folder, measurements, device=device, hiring=hiring, watch=progress)
    else:
        watched, about = Progress(plan.cells, resumed=plan.cells), {"device": None}
    assembled, failures, pieces = assemble(plan, store, measurement), store.failures(), store.pieces()
    seconds = time.perf_counter() - began
    assembled.save(path)
    datasets.save_provenance(path, provenance(
        digest=plan.spec.digest, seconds=round(seconds, 3), cells=plan.cells, computed=watched.done,
        cells_per_second=round(watched.done / seconds, 3), failures={str(k): v for k, v in failures.items()}, **about,
        **({"computed_again": found.mended} if found.mended else {}),
        **({"in_pieces": {str(k): v for k, v in pieces.items()}} if pieces else {}),
    ))  # fmt: skip
    return SweepResult(path, watched.done + watched.failed, failures, datasets.load(path) if load else None)
