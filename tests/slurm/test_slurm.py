"""Sweeps whose work items are SLURM jobs: cancelled, preempted and put back into the queue, to the same bytes.

Run by `make slurm`, which starts a cluster of one node for it.
"""

import contextlib
import copy
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stablessm.sweeps.run import execute

sys.path.insert(0, str(Path(__file__).parent.parent / "sweeps"))
pytestmark = pytest.mark.slurm
SLOW = 10_000_000  # steps of the toy: a work item takes seconds


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def running():
    return said("squeue", "--noheader", "--array", "--states=RUNNING", "--name=stablessm", "--format=%i").split()


def computing(folder):
    """The first job that has got to its work: before that it does not listen to signals."""
    for job in running():
        for log in folder.glob(f".stablessm-slurm-*/{job}_0_log.out"):
            if "Loading pickle" in log.read_text():
                return job
    return None


def interfere(what, folder, log):
    """Wait until a job computes, and do something to it."""
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        if job := computing(folder):
            time.sleep(2)
            what(job)
            log.append(job)
            if what is warn:
                while time.monotonic() < deadline:
                    told = [one.read_text() for one in folder.glob(f".stablessm-slurm-*/{job}_0_log.*")]
                    if any("Requeued job" in one for one in told):
                        log.append("requeued by itself")
                        return
                    time.sleep(0.2)
                log += told
            return
        time.sleep(0.2)


def preempt(_):
    """Send a job of a partition that goes before, for all of the machine."""
    said("sbatch", "--partition=high", "--exclusive", "--output=/dev/null", "--wrap", "sleep 5")


def cancel(job):
    said("scancel", job)


def warn(job):
    """Send the signal of an early warning; scancel itself would wait for longer than the job needs to end."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(["scancel", "--signal=USR2", job], capture_output=True, timeout=5)


@pytest.fixture(scope="module")
def declaration():
    from toy_measurement import BASE

    return {**copy.deepcopy(BASE), "settings": {"steps": SLOW}, "chunk": 2}


@pytest.fixture(scope="module")
def here(declaration, tmp_path_factory):
    from toy_measurement import MEASUREMENTS

    return execute(declaration, out=tmp_path_factory.mktemp("here"), measurements=MEASUREMENTS).path.read_bytes()


@pytest.mark.parametrize("what", [None, warn, cancel, preempt])
def test_jobs_of_an_array_give_the_same_bytes(declaration, here, tmp_path, monkeypatch, what):
    from toy_measurement import MEASUREMENTS

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[1] / 'sweeps'}:{Path(__file__).parents[2]}")
    log = []
    disturbing = threading.Thread(target=interfere, args=(what, tmp_path, log), daemon=True)
    if what:
        disturbing.start()
    result = execute(declaration, out=tmp_path / "out", measurements=MEASUREMENTS, executor="slurm", workers=1)
    assert result.failures == {} and result.path.read_bytes() == here
    assert what is None or log, "no job ran for long enough to be disturbed"
    assert what is not warn or "requeued by itself" in log
    assert what is cancel or not list(tmp_path.glob(".stablessm-slurm-*"))


def test_workers_of_dask_that_are_jobs(declaration, here, tmp_path, monkeypatch):
    from toy_measurement import MEASUREMENTS

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[1] / 'sweeps'}:{Path(__file__).parents[2]}")
    result = execute(
        declaration, out=tmp_path / "out", measurements=MEASUREMENTS, executor="dask", scheduler="slurm", workers=1
    )
    assert result.failures == {} and result.path.read_bytes() == here


def test_a_partition_that_is_not_there_is_one_sentence(declaration, tmp_path, monkeypatch):
    from toy_measurement import MEASUREMENTS

    from stablessm.sweeps.errors import SweepError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SBATCH_PARTITION", "nowhere")
    with pytest.raises(SweepError, match=r"^--executor slurm: the cluster takes no job \(.*partition"):
        execute(declaration, out=tmp_path / "out", measurements=MEASUREMENTS, executor="slurm")
    assert not list(tmp_path.iterdir())
