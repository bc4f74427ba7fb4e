"""The executor: runs what of a sweep is not done yet, one work item after another, and exports the dataset."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from stablessm import datasets
from stablessm.sweeps import store as stores
from stablessm.sweeps.assemble import assemble
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.device import choose_device, enable_compilation_cache
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.folders import check
from stablessm.sweeps.layout import DONE, Layout, join_coordinates, variables_of
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.progress import Progress, Watcher
from stablessm.sweeps.provenance import provenance
from stablessm.sweeps.spec import Spec, difference

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
) -> xr.Dataset:
    """Run an experiment, or what is left of it, and return its dataset; see `execute` for the arguments.

    A work item that raised is marked failed in `status`, with the reason in the provenance file; the others go on.

    Example:
        >>> run_sweep("maps", out="results").attrs["measurement"]  # doctest: +SKIP
        'maps'
    """
    return execute(
        spec, scale=scale, overrides=overrides, chunk=chunk, out=out, device=device, fresh=fresh, progress=progress,
        measurements=measurements,
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

    Returns:
        The dataset, which is also saved as netCDF with its provenance beside it.

    Raises:
        SpecError: a declaration that cannot be run.
        PlaceError: `out` cannot be a folder of results.
        StoreError: a store that is damaged, foreign, in use, or of another sweep.
        DatasetError: a damaged or foreign file where the dataset goes.
        SweepError: no such device, or starts that differ across maps.
        WriteError: the disk refuses; what is done is kept.
    """
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
        store, watched, about = _compute(plan, measurement, variables, store, folder, device, progress)
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
    progress: Watcher | None,
) -> tuple[stores.Store, Progress, dict[str, Any]]:
    """Compute every work item that is pending or failed; return the store, the count and what is worth noting."""
    chosen = choose_device(device)
    enable_compilation_cache()
    from stablessm.sweeps.memory import refuse_too_large_dataset
    from stablessm.sweeps.programs import Programs, first_line

    with Programs(plan, measurement, chosen) as programs, ExitStack() as held:
        status = store.status() if store is not None else np.zeros(plan.items, np.int8)
        left = np.flatnonzero(status != DONE)
        combinations = sorted({int(number) // plan.items_per_combination for number in left})
        order = programs.working(combinations)
        order += [combination for combination in combinations if combination not in order]
        programs.check_memory(order)
        if store is None:
            layout = Layout(variables, join_coordinates(programs.coordinates(), variables))
            refuse_too_large_dataset(plan, layout)
            if folder.exists():
                stores.remove(folder)
            store = stores.create(folder, plan, layout)
        held.enter_context(stores.locked(folder))
        watched = Progress(plan.cells, resumed=plan.cells - sum(plan.valid(int(number)) for number in left))
        if progress is not None:
            progress(watched)
        for combination in order:
            programs.compile(combination)
        for number in _in_turn(plan, order, set(left.tolist())):
            item = plan.item(number)
            try:
                results = programs.run(item, store.layout)
            except Exception as error:
                reason = first_line(error)
                store.fail(number, reason)
                watched.add_failure(item, reason)
            else:
                store.write(number, results)
                watched.add(item, results, store.layout)
            if progress is not None:
                progress(watched)
    return store, watched, {"device": f"{chosen.platform} {chosen.device_kind}", "compiles": len(order)}


def _in_turn(plan: Plan, order: Sequence[int], left: set[int]) -> Iterable[int]:
    """All combinations at the first work item, then at the second, so that the combinations share their starts."""
    for place in range(plan.items_per_combination):
        for combination in order:
            number = combination * plan.items_per_combination + place
            if number in left:
                yield number
