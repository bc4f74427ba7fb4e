"""Jobs of a SLURM cluster, sent as arrays by submitit; a preempted job goes back into the queue with its answers.

A job computes several work items, since to start one takes longer than many an item. Partition, account and time are
those of sbatch's own variables (SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT, ...). Jobs that vanish without a
result are found by squeue, which every cluster has, and given out again; sacct, which submitit asks, needs a database.
"""

from __future__ import annotations

import getpass
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stablessm.sweeps.errors import SweepError, first_line, ours
from stablessm.sweeps.executors import Crew, Hiring, needed

_OPTION = "--executor slurm"
_TASKS_A_WORKER = 4  # few jobs, and none that all wait for at the end
_MINUTES = 60  # of a job, unless SBATCH_TIMELIMIT says otherwise; it is requeued when they are over
_POLL = 1.0  # seconds
_MISSED = 3  # checks without a sign of a job before it is lost


class Share:
    """What a job does: the items of a task, one after another. Interrupted, it is pickled with what it has found."""

    def __init__(self, compute: Callable[[Sequence[int]], list[Any]], task: Sequence[int]) -> None:
        """Remember the task."""
        self._compute, self._state = compute, (tuple(task), ())

    def __call__(self) -> list[Any] | Exception:
        """Return the answers, or a finished sentence of this package's own."""
        while self._state[0]:
            (first, *rest), found = self._state
            try:
                answers = self._compute((first,))
            except Exception as error:
                if ours(error):
                    return error
                raise
            self._state = tuple(rest), (*found, *answers)  # at once: the signal may come between any two lines
        return list(self._state[1])

    def checkpoint(self) -> Any:
        """Return what submitit puts back into the queue."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


class Jobs(Executor):
    """An executor over one of submitit's: what is submitted within a second becomes one array.

    Attributes:
        lost: whether a job has vanished.
    """

    def __init__(self, submitting: Any, queued: Callable[[], set[str] | None]) -> None:
        """Start the thread that sends and watches.

        Args:
            submitting: an executor of submitit.
            queued: names the jobs that are waiting or running; None where that cannot be told at present.
        """
        self._submitting, self._queued, self._lock = submitting, queued, threading.Lock()
        self._new: list[tuple[Future[Any], Share]] = []
        self._sent: list[tuple[Future[Any], Any]] = []
        self._unseen: dict[str, int] = {}
        self.lost = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="slurm", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Take a task for the next array."""
        future: Future[Any] = Future()
        with self._lock:
            self._new.append((future, Share(function, *arguments, **named)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop watching; with `cancel_futures` the jobs are cancelled."""
        if not cancel_futures:
            while self._sent or self._new:
                time.sleep(_POLL)
        self._ending.set()
        self._thread.join()
        for future, job in self._sent:
            future.cancel()
            with suppress(Exception):
                job.cancel()

    def _watch(self) -> None:
        while not self._ending.wait(_POLL):
            with self._lock:
                new, self._new = self._new, []
            try:
                self._send([pair for pair in new if not pair[0].cancelled()])
            except Exception as error:
                told = SweepError(f"{_OPTION}: the cluster takes no job ({_said(error)}).")
                for future, _ in new:
                    future.set_exception(told)
            with suppress(OSError):  # of a disk that is shared, for a moment
                self._collect()

    def _send(self, new: list[tuple[Future[Any], Share]]) -> None:
        if new:
            jobs = self._submitting.submit_array([share for _, share in new])
            self._sent += [(future, job) for (future, _), job in zip(new, jobs, strict=True)]

    def _collect(self) -> None:
        queued = self._queued() if self._sent else set()
        left = []
        for future, job in self._sent:
            if future.cancelled():
                with suppress(Exception):
                    job.cancel()
            elif job.paths.result_pickle.exists():
                _settle(future, job)
            elif self._is_lost(job.job_id, queued):
                with suppress(Exception):  # it may only be slow to come back into the queue
                    job.cancel()
                self.lost = True
                future.set_exception(RuntimeError(f"job {job.job_id} ended without a result; its log is kept"))
            else:
                left.append((future, job))
        self._sent = left

    def _is_lost(self, name: str, queued: set[str] | None) -> bool:
        if queued is not None:
            self._unseen[name] = 0 if name in queued else self._unseen.get(name, 0) + 1
        return self._unseen.get(name, 0) >= _MISSED


def _settle(future: Future[Any], job: Any) -> None:
    try:
        found = job.result()
    except Exception as error:
        future.set_exception(error)
        return
    if isinstance(found, Exception):
        future.set_exception(found)
    else:
        future.set_result(found)


def _said(error: Exception) -> str:
    """Return the last words of a command that failed, or the exception itself."""
    for words in (getattr(error, "stderr", None), getattr(error, "output", None)):
        text = words.decode(errors="replace") if isinstance(words, bytes) else words or ""
        if text.strip():
            return text.strip().splitlines()[-1]
    return first_line(error)


def refusal(*words: str) -> str:
    """Return what sbatch says against a job, by its words; empty where it would take it."""
    try:
        done = subprocess.run(["sbatch", "--test-only", *words], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return first_line(error)
    return (done.stderr.strip() or "it gives no reason").splitlines()[-1] if done.returncode else ""


def _queued() -> set[str] | None:
    """Return the names of this user's jobs, of every task of an array; None where squeue does not answer."""
    command = ["squeue", "--noheader", "--array", "--user", getpass.getuser(), "--format", "%i"]
    try:
        return set(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split())
    except (OSError, subprocess.SubprocessError):
        return None


@contextmanager
def opened(hiring: Hiring) -> Iterator[Crew]:
    """Yield jobs of one core each, `hiring.workers` at a time.

    Raises:
        SweepError: submitit is not installed, or this machine submits no jobs.
    """
    submitit = needed("submitit", _OPTION, "slurm")
    for program in ("sbatch", "srun", "squeue"):
        if shutil.which(program) is None:
            raise SweepError(f"{_OPTION}: there is no {program} on this machine; run it where jobs are submitted.")
    if said := refusal("--wrap", "true"):
        raise SweepError(f"{_OPTION}: the cluster takes no job ({said}).")
    workers = hiring.workers or 1
    # Jobs read and write here, so it lies where the user is and not in a /tmp of this machine's own.
    folder = Path(tempfile.mkdtemp(prefix=".stablessm-slurm-", dir=Path.cwd()))
    submitting = submitit.SlurmExecutor(folder=folder, max_num_timeout=10**6)
    submitting.update_parameters(job_name="stablessm", time=_MINUTES, cpus_per_task=1, array_parallelism=workers)
    jobs = Jobs(submitting, _queued)
    try:
        yield Crew(jobs, lambda: _TASKS_A_WORKER * workers, _TASKS_A_WORKER * workers)
    except BaseException:
        jobs.shutdown(cancel_futures=True)
        raise
    else:
        jobs.shutdown()
    finally:
        if not jobs.lost:  # else their logs say why
            shutil.rmtree(folder, ignore_errors=True)
