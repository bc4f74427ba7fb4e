"""Several processes of this machine: spawned, since a forked child that meets JAX hangs; one that dies is replaced."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from stablessm.sweeps.executors import Crew, Hiring
from stablessm.sweeps.executors.pinning import cores, pin, take_gpu


class Processes(Executor):
    """Workers of one process each. A death breaks its own pool alone, so that it is known whose task was lost."""

    def __init__(self, workers: int, threads: int) -> None:
        """Start nothing yet.

        Args:
            workers: number of processes.
            threads: of each of them.
        """
        self._threads, self._lock = threads, threading.Lock()
        self._pools: list[ProcessPoolExecutor | None] = [None] * workers
        self._pids: list[Future[int] | None] = [None] * workers
        self._waiting: Counter[int] = Counter()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Give a task to the worker with the fewest."""
        with self._lock:
            rank = min(range(len(self._pools)), key=lambda one: self._waiting[one])
            self._waiting[rank] += 1
        try:
            future = self._pool(rank).submit(function, *arguments, **named)
        except BrokenExecutor:  # it died while it had nothing to do
            self._pools[rank] = None
            future = self._pool(rank).submit(function, *arguments, **named)
        future.add_done_callback(lambda _: self._done(rank))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with `cancel_futures` at once, whatever they are at."""
        for pool, pid in zip(self._pools, self._pids, strict=True):
            if pool is None:
                continue
            if cancel_futures and pid is not None and pid.done() and not pid.cancelled() and not pid.exception():
                with suppress(ProcessLookupError):
                    os.kill(pid.result(), signal.SIGTERM)
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _pool(self, rank: int) -> ProcessPoolExecutor:
        pool = self._pools[rank]
        if pool is None:
            spawn = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(1, spawn, initializer=_begin, initargs=(rank, self._threads))
            self._pools[rank], self._pids[rank] = pool, pool.submit(os.getpid)
        return pool

    def _done(self, rank: int) -> None:
        with self._lock:
            self._waiting[rank] -= 1


def _begin(rank: int, threads: int) -> None:
    """Set up a worker: an interruption is the parent's to handle, and the worker ends with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    take_gpu(rank)
    pin(threads)


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)  # a worker that waits for work would outlive a parent that was killed


@contextmanager
def opened(hiring: Hiring) -> Iterator[Crew]:
    """Yield as many workers as asked for, one a core by default; where the block raises, they are ended at once."""
    workers = hiring.workers or cores()
    processes = Processes(workers, max(1, cores() // workers))
    try:
        yield Crew(processes, lambda: workers)
    except BaseException:
        processes.shutdown(cancel_futures=True)
        raise
    processes.shutdown()
