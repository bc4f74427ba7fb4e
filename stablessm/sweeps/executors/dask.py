"""The workers of a dask cluster that is there already, or of one whose workers are SLURM jobs started for the sweep.

A task whose worker dies is given to another by the scheduler itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from stablessm.parameterizations.numbers import quoted
from stablessm.reading import read_bytes
from stablessm.sweeps.errors import SweepError, first_line
from stablessm.sweeps.executors import SLURM, Crew, Hiring, needed
from stablessm.sweeps.executors.slurm import refusal

SECONDS_TO_ANSWER = 10
_OPTION = "--executor dask"
_ASK_AGAIN = 5.0  # seconds


@contextmanager
def opened(hiring: Hiring) -> Iterator[Crew]:
    """Yield the cluster behind an address, a scheduler file, or SLURM.

    Raises:
        SweepError: dask is not installed, or no scheduler answers.
    """
    distributed = needed("distributed", _OPTION, "cluster")
    with ExitStack() as held:
        where = str(hiring.scheduler).strip()
        if where == SLURM:
            cluster = held.enter_context(_slurm_cluster(hiring.workers or 1))
            client = held.enter_context(distributed.Client(cluster, set_as_default=False))
        else:
            client = held.enter_context(_client(distributed, where))
        executor = client.get_executor(retries=0, pure=False)
        held.callback(executor.shutdown, wait=False)
        yield Crew(executor, _window(client, hiring.workers or 1))


def _client(distributed: Any, where: str) -> Any:
    """Connect, after a question: a client that finds nobody complains once more when it is let go."""
    address = _address_in(where) if where.endswith(".json") else where
    try:
        if not address.startswith("tls:"):  # its certificates are the client's to find
            asyncio.run(_ask(distributed, address))
        return distributed.Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except Exception as error:  # of an address that is none ValueError or TypeError, of a silent one OSError
        raise SweepError(
            f"--scheduler: no dask scheduler answers at {quoted(address)} ({first_line(error)}); "
            "give an address such as tcp://HOST:8786."
        ) from None


def _address_in(file: str) -> str:
    try:
        content = read_bytes(Path(file), "scheduler file", SweepError)
        return str(json.loads(content)["address"])
    except SweepError as error:
        raise SweepError(f"--scheduler: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SweepError(f"--scheduler: {quoted(file)} is no file of a dask scheduler ({first_line(error)}).") from None


async def _ask(distributed: Any, address: str) -> None:
    async with distributed.rpc(address, timeout=SECONDS_TO_ANSWER) as scheduler:
        about = await asyncio.wait_for(scheduler.identity(), SECONDS_TO_ANSWER)
    if about.get("type") != "Scheduler":
        raise ValueError(f"a dask {about.get('type')} is there")


def _slurm_cluster(workers: int) -> Any:
    """One worker of one core a job; dask's own configuration (jobqueue.slurm) says the rest: partition, time."""
    jobqueue = needed("dask_jobqueue", f"--scheduler {SLURM}", "cluster")
    import dask

    def configured(key: str, otherwise: Any) -> Any:
        return dask.config.get(f"jobqueue.slurm.{key}", None) or otherwise

    try:
        cluster = jobqueue.SLURMCluster(
            cores=configured("cores", 1),
            processes=configured("processes", 1),
            memory=configured("memory", "4GB"),
            python=configured("python", sys.executable),
        )
    except Exception as error:
        raise SweepError(f"--scheduler {SLURM}: the cluster cannot be started ({first_line(error)}).") from None
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(cluster.job_script())
        file.flush()
        refused = refusal(file.name)
    if refused:  # dask would try again and again without a word
        cluster.close()
        raise SweepError(f"--scheduler {SLURM}: the cluster takes no job ({refused}).")
    cluster.scale(jobs=workers)
    return cluster


def _window(client: Any, least: int) -> Callable[[], int]:
    """Two tasks a thread, so that none waits for the next; the threads are counted anew every few seconds."""
    latest = [-_ASK_AGAIN, 0]

    def window() -> int:
        if time.monotonic() - latest[0] > _ASK_AGAIN:
            latest[:] = [time.monotonic(), 2 * max(least, sum(client.nthreads().values()))]
        return int(latest[1])

    return window
