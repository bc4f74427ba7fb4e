"""Runs what of a sweep is not done yet, by whatever executor, and exports the dataset."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from stablessm import datasets
from stablessm.sweeps import store as stores
from stablessm.sweeps.assemble import assemble
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.device import choose_device, enable_compilation_cache
from stablessm.sweeps.dispatch import Task, answers
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.executors import Hiring
from stablessm.sweeps.executors.pinning import share_memory
from stablessm.sweeps.folders import check
from stablessm.sweeps.header import header_of
from stablessm.sweeps.layout import DONE, Layout, join_coordinates, variables_of
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.progress import Progress, Watcher
from stablessm.sweeps.provenance import provenance
from stablessm.sweeps.spec import Spec, difference
from stablessm.sweeps.work import Worker, answer, ordered

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement


class SweepResult(NamedTuple):
    """What a run came to.

    Attributes:
        dataset: all of the sweep.
        path: the netCDF file it was saved to.
        computed: cells computed by this run; 0 where all was done before.
        failures: reason of every failed work item, by its number.
    """

    dataset: xr.Dataset
    path: Path
    computed: int
    failures: dict[int, str]


def run_sweep(
    spec: Spec | Mapping[str, Any] | str | Path,
    *,
    scale: str = "quick",
    overrides: Iterable[str] = (),
    chunk: int | None = None,
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
    return execute(
        spec, scale=scale, overrides=overrides, chunk=chunk, out=out, device=device, fresh=fresh, progress=progress,
        measurements=measurements, executor=executor, workers=workers, scheduler=scheduler,
    ).dataset  # fmt: skip


def execute(
    spec: Spec | Mapping[str, Any] | str | Path,
    *,
    scale: str = "quick",
    overrides: Iterable[str] = (),
    chunk: int | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    fresh: bool = False,
    progress: Watcher | None = None,
    measurements: Mapping[str, Measurement] | None = None,
    executor: str | Executor | Hiring = "local",
    workers: int | None = None,
    scheduler: str | None = None,
) -> SweepResult:
    """Run an experiment, or what is left of it.

    Args:
        spec: a bundled name, the path of a TOML file, a document, or a `Spec`.
        scale: "quick" or "full".
        overrides: texts "axis=v1,v2" or "setting=value".
        chunk: cells in one work item; a stored setting.
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
    measurement = measurements[spec.measurement]
    plan = Plan(spec)
    path, folder = where.dataset(spec.name, spec.scale), where.store(spec.name, spec.scale)
    saved = _saved(path, spec, fresh)
    variables = variables_of(spec, measurement.variables(measurement.settings(**spec.settings)))
    began = time.perf_counter()
    store = None
    if folder.exists() or folder.is_symlink():
        if fresh:
            stores.read_header(folder)
        else:
            store = stores.open_store(folder, spec, variables)
            if (store.status() == DONE).all() and saved is not None and saved.attrs.get("spec") == spec.to_json():
                return SweepResult(saved, path, 0, {})
    if store is None or not (store.status() == DONE).all():
        store, watched, about = _compute(plan, measurement, variables, store, folder, device, hiring, progress)
    else:
        watched, about = Progress(plan.cells, resumed=plan.cells), {"device": None}
    dataset, failures = assemble(plan, store, measurement), store.failures()
    seconds = time.perf_counter() - began
    datasets.save(dataset, path)
    datasets.save_provenance(path, provenance(
        digest=spec.digest, seconds=round(seconds, 3), cells=plan.cells, computed=watched.done,
        cells_per_second=round(watched.done / seconds, 3), failures={str(k): v for k, v in failures.items()}, **about,
    ))  # fmt: skip
    return SweepResult(dataset, path, watched.done + watched.failed, failures)


def _saved(path: Path, spec: Spec, fresh: bool) -> xr.Dataset | None:
    """Return the dataset that is there already; refuse one of another sweep unless it is to be replaced."""
    datasets.refuse_foreign(path)
    if not path.exists():
        return None
    saved = datasets.load(path)
    if not fresh:
        try:
            lines = difference(dict(json.loads(saved.attrs["spec"])), spec.document())
        except (KeyError, TypeError, ValueError, RecursionError):  # a dataset, but not of a sweep
            lines = difference({}, spec.document())
        if lines:
            raise StoreError(
                f"'{path}' holds a different sweep ({'; '.join(lines)}): "
                "give --fresh to replace it, or --out for another folder."
            )
    return saved


def _compute(
    plan: Plan,
    measurement: Measurement,
    variables: Mapping[str, Any],
    store: stores.Store | None,
    folder: Path,
    device: str,
    hiring: Hiring,
    progress: Watcher | None,
) -> tuple[stores.Store, Progress, dict[str, Any]]:
    """Compute every work item that is pending or failed; return the store, the count and what is worth noting."""
    if not hiring.here:
        share_memory()  # before JAX starts: this process plans, the workers compute
    chosen = choose_device(device if hiring.here else "cpu")
    enable_compilation_cache()
    from stablessm.sweeps.memory import refuse_too_large_dataset
    from stablessm.sweeps.programs import Programs

    with Programs(plan, measurement, chosen) as programs, ExitStack() as held:
        status = store.status() if store is not None else np.zeros(plan.items, np.int8)
        left = np.flatnonzero(status != DONE)
        combinations = sorted({int(number) // plan.items_per_combination for number in left})
        order = programs.working(combinations)
        order += [combination for combination in combinations if combination not in order]
        if hiring.here:
            programs.check_memory(order)
        layout = store.layout if store else Layout(variables, join_coordinates(programs.coordinates(), variables))
        refuse_too_large_dataset(plan, layout)
        if hiring.here:
            compute = Worker(plan, programs, layout).answer
        else:
            pickled = hiring.kind == "processes"
            compute = partial(answer, ordered(header_of(plan.spec, layout), measurement, device, pickled=pickled))
        crew = held.enter_context(hiring.opened())
        if store is None:
            if folder.exists():
                stores.remove(folder)
            store = stores.create(folder, plan, layout)
        held.enter_context(stores.locked(folder))
        watched = Progress(plan.cells, resumed=plan.cells - sum(plan.valid(int(number)) for number in left))
        if progress is not None:
            progress(watched)
        if hiring.here:
            for combination in order:
                programs.compile(combination)
        tasks = _tasks(plan, order, set(left.tolist()), crew.tasks)
        devices: set[str] = set()
        for one in answers(crew.executor, compute, tasks, crew.window):
            devices.add(one.device)
            if one.results is None:
                store.fail(one.number, one.reason)
                watched.add_failure(plan.valid(one.number), one.reason)
            else:
                store.write(one.number, one.results)
                watched.add(plan.valid(one.number), one.results, layout)
            if progress is not None:
                progress(watched)
    about = {"device": ", ".join(sorted(devices - {""})), "compiles": len(order), "executor": hiring.name}
    return store, watched, about


def _tasks(plan: Plan, order: Sequence[int], left: set[int], count: int | None) -> Iterator[Task]:
    """All combinations at the first work item, then at the second, so that the combinations share their starts.

    Args:
        plan: the work.
        order: the static combinations.
        left: numbers of the work items to do.
        count: tasks to make of them, each of work items of one combination; None for one of each work item.
    """
    size = 1 if count is None else -(-len(left) // count)
    of_combination = [
        [number for number in range(first, first + plan.items_per_combination) if number in left]
        for first in (combination * plan.items_per_combination for combination in order)
    ]
    for place in range(0, plan.items_per_combination, size):
        for numbers in of_combination:
            if task := tuple(numbers[place : place + size]):
                yield task
