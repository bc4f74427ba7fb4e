"""Computes what of a sweep is not done, by whoever was hired, and writes it into the store: the one writer there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stablessm.netcdf import load_libraries
from stablessm.sweeps import stores
from stablessm.sweeps.device import choose_devices, enable_compilation_cache
from stablessm.sweeps.dispatch import Task, answers
from stablessm.sweeps.executors import Hiring
from stablessm.sweeps.executors.pinning import share_memory
from stablessm.sweeps.header import header_of
from stablessm.sweeps.layout import DONE, Layout, join_coordinates
from stablessm.sweeps.progress import Progress, Watcher
from stablessm.sweeps.resume import Found, variables
from stablessm.sweeps.store import Store
from stablessm.sweeps.work import Answer, Worker, answer, ordered

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement
    from stablessm.sweeps.plan import Plan
    from stablessm.sweeps.programs import Programs


class Computed(NamedTuple):
    """What came of it.

    Attributes:
        store: with all of the results.
        progress: the count.
        about: what is worth noting in the provenance.
    """

    store: Store
    progress: Progress
    about: dict[str, Any]


def compute(
    found: Found,
    folder: Path,
    measurements: Mapping[str, Measurement],
    *,
    device: str,
    hiring: Hiring,
    watch: Watcher | None,
) -> Computed:
    """Compute every work item that is pending or failed.

    Args:
        found: what is there already.
        folder: of the store.
        measurements: the registry.
        device: "auto", "cpu" or "gpu".
        hiring: who computes.
        watch: told after the set-up and after every work item.

    Raises:
        SweepError: no such device or executor, too little memory, or nothing that can be built.
        StoreError: the store is in use.
        ExecutorError: the executor is gone.
        WriteError: the disk refuses.
    """
    plan, measurement = found.plan, measurements[found.plan.spec.measurement]
    if not hiring.here:
        share_memory()  # before JAX starts: this process plans, the workers compute
    chosen = choose_devices(device) if hiring.here else choose_devices("cpu")[:1]
    enable_compilation_cache()
    from stablessm.sweeps.programs import Programs

    with Programs(plan, measurement, *chosen) as programs, ExitStack() as held:
        layout = _layout(found, programs, measurements, check=hiring.here)
        if hiring.here:
            work = Worker(plan, programs, layout).answer
        else:
            pickled = hiring.kind == "processes"
            work = partial(answer, ordered(header_of(plan, layout), measurement, device, pickled=pickled))
        crew = held.enter_context(hiring.opened())
        store = found.store or _created(found, folder, layout)
        held.enter_context(stores.locked(folder))
        stores.refuse_changed(store)
        left = np.flatnonzero(store.status() != DONE).tolist()
        order = _order(plan, programs, left)
        progress = Progress(plan.cells, resumed=plan.cells - sum(map(plan.valid, left)))
        if watch is not None:
            watch(progress)
        if hiring.here:
            for combination in order:
                programs.compile(combination)
            load_libraries()  # of the export: Python is idle while XLA compiles
        came = answers(crew.executor, work, tasks(plan, order, set(left), crew.tasks), crew.window)
        devices = _written(came, store, progress, watch)
        compiles = len({programs.served(combination) for combination in order})
    return Computed(store, progress, {"device": devices, "compiles": compiles, "executor": hiring.name})


def _layout(found: Found, programs: Programs, measurements: Mapping[str, Measurement], *, check: bool) -> Layout:
    """Return the layout of the store, after making sure that what is to be computed can be held."""
    from stablessm.sweeps.memory import refuse_too_large_dataset

    if found.store is not None:
        layout = found.store.layout
        combinations = _order(found.plan, programs, np.flatnonzero(found.store.status() != DONE).tolist())
    else:
        stored = variables(found.plan.spec, measurements)
        layout = Layout(stored, join_coordinates(programs.coordinates(), stored))
        combinations = programs.working(range(len(found.plan.combinations)))
    if check:
        programs.check_memory(combinations)
    if found.store is None:
        refuse_too_large_dataset(found.plan, layout)
    return layout


def _created(found: Found, folder: Path, layout: Layout) -> Store:
    """Make the store, if what was found is what is there: others may have begun while programs were built."""
    if found.removed:
        stores.remove(folder)
    if found.part is None or found.source is None:
        return stores.create(folder, found.plan, layout, [] if found.part is None else [found.part])
    with stores.locked(folder):
        stores.refuse_changed(found.source, found.part.status)
        return stores.create(folder, found.plan, layout, [found.part], replace=True)


def _order(plan: Plan, programs: Programs, left: Iterable[int]) -> list[int]:
    """Return the static combinations of work items: those that build, which share starts, one after the other first."""
    combinations = sorted({plan.combination(number) for number in left})
    order = programs.working(combinations)
    return order + [combination for combination in combinations if combination not in order]


def _written(came: Iterator[Answer], store: Store, progress: Progress, watch: Callable[[Progress], None] | None) -> str:
    """Write answers as they come; return the names of the devices that gave them."""
    devices = set()
    for one in came:
        cells = store.plan.valid(one.number)
        if one.device:
            devices.add(one.device)
        if one.results is None:
            store.fail(one.number, one.reason)
            progress.add_failure(cells, one.reason)
        else:
            store.write(one.number, one.results, pieces=one.pieces)
            progress.add(cells, one.results, store.layout)
        if watch is not None:
            watch(progress)
    return ", ".join(sorted(devices))


def tasks(plan: Plan, order: Sequence[int], left: set[int], count: int | None) -> Iterator[Task]:
    """All combinations at the first work item, then at the second, so that the combinations share their starts.

    Args:
        plan: the work.
        order: the static combinations.
        left: numbers of the work items to do.
        count: tasks to make of them, each of work items of one combination; None for one of each work item.
    """
    size = 1 if count is None else -(-len(left) // count)
    of_combination = [[number for number in plan.numbers[one] if number in left] for one in order]
    for place in range(0, max(map(len, of_combination), default=0), size):
        for numbers in of_combination:
            if task := tuple(numbers[place : place + size]):
                yield task
