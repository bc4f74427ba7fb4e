"""Training from a declaration: from where its checkpoint stands to the end, whatever stopped it before."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from stablessm.data.content import Source
from stablessm.data.registry import FOLDER_VARIABLE
from stablessm.datasets import load as load_dataset
from stablessm.datasets import refuse_foreign, save, save_provenance
from stablessm.runs.declaration import Declaration, RunError, difference
from stablessm.runs.owning import owned
from stablessm.runs.reading import load_declaration
from stablessm.runs.record import Record, dataset_of, empty
from stablessm.runs.setup import Files, Ready, files_of, ready
from stablessm.sweeps.provenance import provenance
from stablessm.tasks.origin import Origin, origin
from stablessm.tasks.scores import summary
from stablessm.training import checkpoints
from stablessm.training.loop import STRETCH
from stablessm.training.run import recorded_steps

if TYPE_CHECKING:
    import xarray as xr

_SECONDS_BETWEEN_CHECKPOINTS = 60.0
_SECONDS_OF_A_STRETCH = 1.0  # as often as that a run tells how far it is, and can be interrupted


@dataclass(frozen=True)
class Status:
    """How far a run is.

    Attributes:
        step: steps taken.
        steps: in all.
        loss: mean of the last stretch.
        metric: name of the validation metric.
        validation: its last value; None before the first look.
        rate: steps a second since it was taken up; 0 before the first stretch.
    """

    step: int
    steps: int
    loss: float
    metric: str
    validation: float | None
    rate: float


@dataclass(frozen=True)
class TrainingResult:
    """What a run came to.

    Attributes:
        dataset: metrics along the run.
        path: its file.
        checkpoint: file that `evaluate` takes.
        outcome: in the words of `training.outcomes`.
        first_bad_step: -1 where there is none.
        first_bad_place: where a step that is not finite began; empty where there is none.
        resumed: whether steps had been taken before.
        complete: whether all had, and nothing was written.
        steps: steps taken in all, up to one that is not finite.
        stopped_early: whether it ended before its last step for want of a better look.
    """

    dataset: xr.Dataset
    path: Path
    checkpoint: Path
    outcome: str
    first_bad_step: int
    first_bad_place: str
    resumed: bool
    complete: bool
    steps: int
    stopped_early: bool


def train(
    declaration: Declaration | Mapping[str, Any] | str | Path,
    *,
    overrides: Iterable[str] = (),
    data: str | Path | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    fresh: bool = False,
    progress: Callable[[Status], None] = lambda status: None,
) -> TrainingResult:
    """Train, or go on with what is there; the test rows are not looked at.

    Args:
        declaration: as `load_declaration` takes it.
        overrides: "key=value" each.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        out: folder of the results.
        device: "auto", "cpu" or "gpu".
        fresh: whether to replace an earlier run of this name.
        progress: told how far it is, about once a second.

    Raises:
        SpecError, DataError, TaskError, ArchitectureError: what is declared cannot be.
        RunError: a run of another declaration is in the way, or another process trains this one.
        CheckpointError: the checkpoint is damaged.
        DatasetWriteError: the disk refuses.
    """
    return execute(
        ready(load_declaration(declaration, overrides=overrides), data=data, device=device),
        out=out, fresh=fresh, progress=progress,
    )  # fmt: skip


def execute(
    run: Ready,
    *,
    out: str | Path | None = None,
    fresh: bool = False,
    progress: Callable[[Status], None] = lambda status: None,
) -> TrainingResult:
    """Train what has been made ready; see `train`."""
    files = files_of(run.declaration, out)
    refuse_foreign(files.dataset)
    with run.on_device():
        start = empty(run.training.start, run.declaration, run.layers)
        if not fresh:  # what is complete is only read
            record = _taken_up(files, run, start)
            if _over(record, run) and files.dataset.is_file():
                resumed = int(record.state.step)
                return _result(load_dataset(files.dataset), files, record, run, resumed, complete=True)
    with owned(files):
        return _executed(start, run, files, fresh, progress)


def _executed(
    record: Record, run: Ready, files: Files, fresh: bool, progress: Callable[[Status], None]
) -> TrainingResult:
    """Train with the files to itself, from the start or from where they are now."""
    with run.on_device():
        if not fresh:
            record = _taken_up(files, run, record)
        resumed = int(record.state.step)
        began = time.perf_counter()
        record = _trained(record, run, files, progress)
        dataset = dataset_of(
            record, run.declaration, run.model, run.training.model(record.state), run.task, _origin(record, run)
        )
    save(dataset, files.dataset)
    seconds = round(time.perf_counter() - began, 1)
    save_provenance(
        files.dataset,
        provenance(device=str(run.device), seconds=seconds, resumed=resumed, data=told(run.task.source)),
    )
    return _result(dataset, files, record, run, resumed, complete=False)


def _trained(record: Record, run: Ready, files: Files, progress: Callable[[Status], None]) -> Record:
    """Go on to the end, with a checkpoint at each look and once a minute; one more where it is interrupted."""
    declaration, task = run.declaration, run.task
    looks, kept = declaration.looks, recorded_steps(declaration.batches, declaration.records)
    validation = run.rows("validation")
    seen = np.asarray(record.validation_metric)[np.isfinite(record.validation_metric)]
    last = float(seen[-1]) if seen.size else None
    first, began, saved, count = int(record.state.step), time.perf_counter(), time.perf_counter(), 1
    try:
        while not _over(record, run):
            done = int(record.state.step)
            look = next(place for place, step in enumerate(looks) if step > done)
            count = min(count, looks[look] - done)
            since = time.perf_counter()
            state, losses, ratios = run.training.advance(record.state, count)
            losses = np.asarray(losses)
            took = time.perf_counter() - since
            rows = [step for step in range(done, done + count) if step % kept.step == 0]
            places = jnp.asarray(rows, jnp.int32)
            record = record._replace(
                state=state,
                losses=record.losses.at[done : done + count].set(losses),
                ratios=record.ratios.at[places // kept.step].set(ratios[places - done]) if rows else record.ratios,
            )
            bad = int(state.first_bad_step)
            if bad < 0 and done + count == looks[look]:
                found = summary(task, "validation", *run.score(run.training.model(state), validation))
                record, last = _looked(record, look, found.loss, found.metric, task.more_is_better), found.metric
            if done == first:  # what it takes to compile is no measure of the others
                began, rate = time.perf_counter(), 0.0
            else:
                rate = (done + count - first - 1) / (time.perf_counter() - began)
            shown = losses[np.isfinite(losses)]
            mean = float(shown.mean()) if shown.size else float("inf")
            progress(Status(done + count, looks[-1], mean, task.metric, last, rate))
            # a stretch is as long as a second, and the first tells how long a step takes
            count = max(1, min(STRETCH, int(count * _SECONDS_OF_A_STRETCH / max(took, 1e-6)), 8 * count))
            if int(state.step) == looks[look] or time.perf_counter() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                _keep(files, record, run, begun=first == 0)
                saved = time.perf_counter()
    finally:
        if int(record.state.step) > first:
            _keep(files, record, run, begun=first == 0)
    return record


def _keep(files: Files, record: Record, run: Ready, *, begun: bool) -> None:
    """Save the checkpoint; the dataset of a run that this one replaces goes before that one's checkpoint does."""
    if begun:
        files.dataset.unlink(missing_ok=True)
    checkpoints.save(files.checkpoint, record, run.made_of)


def _looked(record: Record, look: int, loss: float, metric: float, more_is_better: bool) -> Record:
    """Note a look at the validation rows, and keep the parameters where it is the best."""
    before = np.asarray(record.validation_metric)[:look]
    before = before[np.isfinite(before)]
    better = not before.size or (metric > before.max() if more_is_better else metric < before.min())
    better &= bool(np.isfinite(metric))
    return record._replace(
        best=record.state.parameters if better else record.best,
        best_step=record.state.step if better else record.best_step,
        waited=jnp.int32(0) if better else record.waited + 1,
        validation_loss=record.validation_loss.at[look].set(loss),
        validation_metric=record.validation_metric.at[look].set(metric),
    )


def _over(record: Record, run: Ready) -> bool:
    stop = run.declaration.stop_after
    return (
        int(record.state.step) >= run.declaration.batches
        or int(record.state.first_bad_step) >= 0
        or (stop > 0 and int(record.waited) >= stop)
    )


def _taken_up(files: Files, run: Ready, start: Record) -> Record:
    """Return the record of the checkpoint, or the start where there is none."""
    if not files.checkpoint.is_file():
        if files.dataset.is_file():
            raise RunError(
                f"'{files.dataset}' is there without its checkpoint, of another sweep or run: give --fresh to replace "
                "it, or --name or --out for another place"
            )
        return start
    there = checkpoints.made_of(files.checkpoint)
    lines = difference(there, run.made_of)
    if lines:
        shown = "; ".join(line.removeprefix("declaration.") for line in lines[:4])
        shown += f"; and {len(lines) - 4} more" if len(lines) > 4 else ""
        raise RunError(
            f"'{files.checkpoint}' is of a different run ({shown}): give --fresh to replace it, or --name or --out for "
            "another place"
        )
    return jax.tree.map(jnp.asarray, checkpoints.load(files.checkpoint, start, run.made_of))


def _origin(record: Record, run: Ready) -> Origin | None:
    bad = int(record.state.first_bad_step)
    if bad < 0:
        return None
    rows, key = run.training.batch(bad)
    return origin(run.training.model(record.state), run.task, rows, key, run.declaration.activations)


def _result(
    dataset: xr.Dataset, files: Files, record: Record, run: Ready, resumed: int, *, complete: bool
) -> TrainingResult:
    taken, bad = int(record.state.step), int(record.state.first_bad_step)
    steps = taken if bad < 0 else bad
    return TrainingResult(
        dataset, files.dataset, files.checkpoint, dataset.attrs["outcome"], int(dataset["first_bad_step"]),
        dataset.attrs["first_bad_place"], resumed > 0, complete, steps,
        bad < 0 and steps < run.declaration.batches,
    )  # fmt: skip


def told(source: Source) -> dict[str, Any]:
    """Where the data came from, as a dataset tells it to others: below the folder of data sets, where it lies there."""
    folder, place = os.environ.get(FOLDER_VARIABLE), Path(source.place)
    if folder and place.is_relative_to(folder):
        source = source._replace(place=str(place.relative_to(folder)))
    return source._asdict()
