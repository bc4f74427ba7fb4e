"""Who computes the work items of a sweep: this process, others on this machine, or a cluster.

Every kind is a module with a function `opened(options)`: a context manager of a `Crew`. Importing this package loads
none of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import NamedTuple

from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.errors import SweepError, unknown

EXECUTORS = MappingProxyType(
    {
        "local": "one work item after another in this process, on all its devices",
        "processes": "several processes of this machine",
        "dask": "the workers of a dask cluster (extra cluster)",
        "slurm": "jobs of a SLURM cluster that may be preempted (extra slurm)",
    }
)
MOST_WORKERS = 4096
SLURM = "slurm"


class Crew(NamedTuple):
    """An executor with what the one who hands out work must know.

    Attributes:
        executor: a `concurrent.futures.Executor`.
        window: how many tasks it is given at one time; asked again and again, for a cluster may grow.
        tasks: how many tasks all the work makes; None for one of each work item.
    """

    executor: Executor
    window: Callable[[], int]
    tasks: int | None = None


@dataclass(frozen=True)
class Hiring:
    """Who shall compute, checked and not yet started.

    Attributes:
        kind: key of `EXECUTORS`, or an executor of the caller's own.
        workers: how many; None for the kind's own choice.
        scheduler: address of a dask scheduler, or "slurm" for one of workers that are SLURM jobs.
    """

    kind: str | Executor = "local"
    workers: int | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be, in one sentence.

        Raises:
            SweepError: an unknown kind, a number of workers out of range, or an option of another kind.
        """
        if not isinstance(self.kind, str):
            if not callable(getattr(self.kind, "submit", None)):
                raise SweepError(f"--executor: expected one of {', '.join(EXECUTORS)}, but got {quoted(self.kind)}.")
        elif self.kind not in EXECUTORS:
            raise SweepError(f"--executor: {unknown('executor', self.kind, EXECUTORS)}.")
        workers, whole = self.workers, isinstance(self.workers, int) and not isinstance(self.workers, bool)
        if workers is not None and not (whole and 1 <= workers <= MOST_WORKERS):
            raise SweepError(f"--workers: it must be an integer from 1 to {MOST_WORKERS}, but got {quoted(workers)}.")
        if workers is not None and self.kind == "local":
            raise SweepError(
                "--workers: the executor local is one process; give --executor processes, dask or slurm with it."
            )
        if self.scheduler is not None and self.kind != "dask":
            raise SweepError("--scheduler: only --executor dask has a scheduler.")
        if self.kind == "dask" and (not isinstance(self.scheduler, str) or not self.scheduler.strip()):
            raise SweepError(
                "--scheduler: --executor dask needs the address of a scheduler, tcp://HOST:8786 say, its file "
                f"(.json), or slurm, but got {quoted(self.scheduler)}."
            )
        if self.kind == "dask" and workers is not None and self.scheduler != SLURM:
            raise SweepError(
                "--workers: those of a dask cluster are started beside its scheduler; the number goes with "
                f"--scheduler {SLURM}."
            )

    @property
    def here(self) -> bool:
        """Whether this process computes."""
        return self.kind == "local"

    @property
    def name(self) -> str:
        """What the provenance calls it."""
        return self.kind if isinstance(self.kind, str) else type(self.kind).__name__

    def opened(self) -> AbstractContextManager[Crew]:
        """Start it; it ends with the block.

        Raises:
            SweepError: a package it needs is not installed, or nobody answers.
        """
        if not isinstance(self.kind, str):
            return _given(self.kind, self.workers)
        return import_module(f"{__name__}.{self.kind}").opened(self)


@contextmanager
def _given(executor: Executor, workers: int | None) -> Iterator[Crew]:
    """The caller's own executor: left open, and kept busy with twice as many tasks as it has workers."""
    window = 2 * (workers or os.cpu_count() or 1)
    yield Crew(executor, lambda: window)


def needed(module: str, option: str, extra: str) -> ModuleType:
    """Return a module that an extra of this package brings.

    Raises:
        SweepError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise SweepError(
            f"{option}: it needs the package '{error.name or module}'; install it with: "
            f"pip install 'stablessm[{extra}]'."
        ) from None
