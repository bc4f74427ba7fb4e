"""Logs of a run for other tools, TensorBoard and Weights & Biases offline: watchers like any other, behind extras.

They are told what the terminal is told, cells done and outcomes so far; the store stays the truth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stablessm.sweeps.errors import SweepError, first_line, unknown
from stablessm.sweeps.executors import needed
from stablessm.sweeps.progress import Progress, Watcher

SINKS = MappingProxyType({"tensorboard": "event files for TensorBoard", "wandb": "an offline run of Weights & Biases"})
Write = Callable[[Mapping[str, float], int], None]


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of sinks, each once.

    Raises:
        SweepError: an unknown one.
    """
    for name in names:
        if name not in SINKS:
            raise SweepError(f"--log: {unknown('log', name, SINKS)}.")
    return tuple(dict.fromkeys(names))


@contextmanager
def logging(names: Sequence[str], folder: Path, run: str, settings: Mapping[str, Any]) -> Iterator[Watcher]:
    """Yield a watcher that writes the count to every sink.

    Args:
        names: keys of `SINKS`.
        folder: where each gets a folder of its own.
        run: name of the sweep.
        settings: of the sweep, for those that keep them.

    Raises:
        SweepError: a package that is not installed, or a sink that cannot begin.
    """
    with ExitStack() as held:
        writes = [held.enter_context(_OPENED[name](folder / name, run, settings)) for name in names]
        began = time.perf_counter()

        def watch(progress: Progress) -> None:
            new = progress.done + progress.failed
            values = {
                "cells/done": progress.resumed + progress.done,
                "cells/failed": progress.failed,
                "cells/per_second": new / max(1e-9, time.perf_counter() - began),
                **{f"outcome/{word}": count for word, count in progress.outcomes.items()},
            }
            for write in writes:
                write(values, progress.resumed + new)

        yield watch


@contextmanager
def _tensorboard(folder: Path, run: str, settings: Mapping[str, Any]) -> Iterator[Write]:
    tensorboard = needed("tensorboardX", "--log tensorboard", "loggers")
    with _begun("tensorboard"):
        writer = tensorboard.SummaryWriter(str(folder / run))

    def write(values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)

    try:
        yield write
    finally:
        writer.close()


@contextmanager
def _wandb(folder: Path, run: str, settings: Mapping[str, Any]) -> Iterator[Write]:
    wandb = needed("wandb", "--log wandb", "loggers")
    with _begun("wandb"):
        folder.mkdir(parents=True, exist_ok=True)
        opened = wandb.init(mode="offline", dir=str(folder), project="stablessm", name=run, config=dict(settings))
    try:
        yield lambda values, step: opened.log(dict(values), step=step)
    finally:
        opened.finish()


@contextmanager
def _begun(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise SweepError(f"--log {name}: it cannot begin ({first_line(error)}).") from None


_OPENED = {"tensorboard": _tensorboard, "wandb": _wandb}
