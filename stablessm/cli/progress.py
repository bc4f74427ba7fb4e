"""A running sweep on stderr: a bar in a terminal, a line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stablessm.cli.quiet import quiet

if TYPE_CHECKING:
    from stablessm.sweeps.progress import Progress, Watcher

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def watching(name: str) -> Iterator[Watcher]:
    """Yield a watcher for `run_sweep(progress=...)` that shows rate, time left and outcomes so far.

    Args:
        name: what is running.
    """
    if quiet() or not sys.stderr.isatty():
        yield _failures(name) if quiet() else _Lines(name)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cells, {task.fields[rate]}, left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[outcomes]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        task = bar.add_task(name, total=None, rate="starting", outcomes="")
        began = time.perf_counter()

        def watch(state: Progress) -> None:
            finished = state.resumed + state.done + state.failed
            rate = _rate(state, began)
            bar.update(task, total=state.cells, completed=finished, rate=rate, outcomes=_outcomes(state))
            if state.reason:
                bar.console.print(f"failed: {state.reason}", style="red", markup=False, highlight=False)

        yield watch


def _failures(name: str) -> Watcher:
    def watch(state: Progress) -> None:
        if state.reason:
            print(f"{name}: failed: {state.reason}", file=sys.stderr, flush=True)

    return watch


class _Lines:
    """A watcher that prints a line at the start, every few seconds, at each failure and at the end."""

    def __init__(self, name: str) -> None:
        self._name, self._began, self._last = name, time.perf_counter(), -float("inf")

    def __call__(self, state: Progress) -> None:
        """Print where the sweep is, if it is time."""
        finished, now = state.resumed + state.done + state.failed, time.perf_counter()
        if state.reason:
            print(f"{self._name}: failed: {state.reason}", file=sys.stderr, flush=True)
        if now - self._last < _SECONDS_BETWEEN_LINES and finished < state.cells:
            return
        self._last = now
        new = state.done + state.failed
        left = (state.cells - finished) * (now - self._began) / new if new else None
        parts = [f"{finished}/{state.cells} cells"]
        if new:
            parts += [_rate(state, self._began), f"{left:.0f} s left"]
        if _outcomes(state):
            parts.append(_outcomes(state))
        print(f"{self._name}: {', '.join(parts)}", file=sys.stderr, flush=True)


def follow(name: str, path: Path, seconds: float) -> None:
    """Show how far the sweep of a store is, until it is over.

    Args:
        name: of the sweep.
        path: of its store.
        seconds: between two looks.

    Raises:
        StoreError: the store is damaged or foreign.
    """
    from stablessm.sweeps.snapshot import snapshot

    before: int | None = None
    with watching(name) as watch:
        while True:
            seen = snapshot(path)
            count = seen.progress
            before = count.done if before is None else before
            watch(replace(count, resumed=before, done=count.done - before))  # the rate is that of the time watched
            if seen.over:
                break
            time.sleep(seconds)
    left = count.cells - count.done - count.failed
    print(f"{name}: {count.done} of {count.cells} cells done, {count.failed} failed" + (
        f", {left} left and nobody at work; stablessm run goes on with it" if left else ""
    ))  # fmt: skip


def _rate(state: Progress, began: float) -> str:
    return f"{(state.done + state.failed) / max(1e-9, time.perf_counter() - began):.1f}/s"


def _outcomes(state: Progress) -> str:
    counts = {**dict(sorted(state.outcomes.items())), **({"failed": state.failed} if state.failed else {})}
    return " ".join(f"{name} {count}" for name, count in counts.items())
