"""A training run on stderr: a bar in a terminal, a line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stablessm.cli.quiet import quiet

if TYPE_CHECKING:
    from stablessm.runs.training import Status

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def telling(name: str) -> Iterator[Callable[[Status], None]]:
    """Yield what `train(progress=...)` is told: loss, validation metric, steps a second, time left.

    Args:
        name: of the run.
    """
    if quiet():
        yield lambda status: None
        return
    if not sys.stderr.isatty():
        last = -float("inf")

        def line(status: Status) -> None:
            nonlocal last
            now = time.perf_counter()
            if now - last >= _SECONDS_BETWEEN_LINES or status.step >= status.steps:
                last = now
                print(f"{name}: {status.step}/{status.steps} steps, {_told(status)}", file=sys.stderr, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        task = bar.add_task(name, total=None, told="compiling")
        yield lambda status: bar.update(task, total=status.steps, completed=status.step, told=_told(status))


def _told(status: Status) -> str:
    parts = [f"loss {status.loss:.4g}"]
    if status.validation is not None:
        parts.append(f"validation {status.metric.replace('_', ' ')} {status.validation:.4g}")
    if status.rate > 0:
        parts.append(f"{status.rate:.3g} steps/s")
        left = (status.steps - status.step) / status.rate
        parts.append(f"{left:.0f} s left" if left < 600 else f"{left / 60:.0f} min left")
    return ", ".join(parts)
