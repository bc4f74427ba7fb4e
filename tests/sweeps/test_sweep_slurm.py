"""What of the SLURM executor needs no SLURM: jobs that come back, are lost, or are interrupted and put back."""

import pickle
import shutil
from pathlib import Path

import pytest

from stablessm.sweeps.errors import SweepError
from stablessm.sweeps.executors import slurm
from stablessm.sweeps.executors.slurm import Jobs, Share
from stablessm.sweeps.run import execute


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(slurm, "_POLL", 0.01)


class Paths:
    def __init__(self, file):
        self.result_pickle = file


class Job:
    """A job that is done as soon as its file is there."""

    def __init__(self, name, share, folder):
        self.job_id, self.share, self.paths, self.cancelled = name, share, Paths(Path(folder) / name), False

    def result(self):
        return self.share()

    def cancel(self):
        self.cancelled = True


class Submitting:
    """Takes arrays of shares, as submitit does; `finish` says which jobs come to an end by themselves."""

    def __init__(self, folder, finish=lambda job: True, refuse=None):
        self.folder, self.finish, self.refuse, self.arrays, self.jobs = folder, finish, refuse, [], []

    def submit_array(self, shares):
        if self.refuse:
            raise self.refuse
        self.arrays.append(len(shares))
        new = [Job(f"{len(self.arrays)}_{place}", share, self.folder) for place, share in enumerate(shares)]
        self.jobs += new
        for job in new:
            if self.finish(job):
                job.paths.result_pickle.touch()
        return new


def doubled(task):
    return [2 * number for number in task]


def test_what_comes_together_is_one_array(tmp_path):
    submitting = Submitting(tmp_path)
    jobs = Jobs(submitting, lambda: None)
    futures = [jobs.submit(doubled, (number, number + 1)) for number in range(20)]
    assert [future.result(5) for future in futures] == [[2 * n, 2 * n + 2] for n in range(20)]
    assert len(submitting.arrays) < 20 and sum(submitting.arrays) == 20
    jobs.shutdown()


def test_a_job_that_left_the_queue_without_a_result_is_lost(tmp_path):
    jobs = Jobs(Submitting(tmp_path, finish=lambda job: False), set)
    with pytest.raises(RuntimeError, match="job 1_0 ended without a result"):
        jobs.submit(doubled, (1,)).result(5)
    jobs.shutdown(cancel_futures=True)


def test_jobs_are_cancelled_at_the_end(tmp_path):
    submitting = Submitting(tmp_path, finish=lambda job: False)
    jobs = Jobs(submitting, lambda: {"1_0"})
    future = jobs.submit(doubled, (1,))
    while not submitting.jobs:
        pass
    jobs.shutdown(cancel_futures=True)
    assert future.cancelled() and submitting.jobs[0].cancelled


def test_a_cluster_that_takes_no_job(tmp_path):
    import subprocess

    error = subprocess.CalledProcessError(1, "sbatch", stderr=b"sbatch: error: invalid partition\n")
    jobs = Jobs(Submitting(tmp_path, refuse=error), set)
    with pytest.raises(SweepError, match=r"takes no job \(sbatch: error: invalid partition\)"):
        jobs.submit(doubled, (1,)).result(5)
    jobs.shutdown()


def test_an_interrupted_share_keeps_what_it_found_and_does_the_rest():
    done = []

    def compute(task):
        if len(done) == 2:
            done.append(None)
            raise KeyboardInterrupt
        done.append(task[0])
        return [task[0]]

    share = Share(compute, (1, 2, 3, 4))
    with pytest.raises(KeyboardInterrupt):
        share()
    again = share.checkpoint().function
    assert again() == [1, 2, 3, 4] and done == [1, 2, None, 3, 4]
    assert pickle.loads(pickle.dumps(Share(doubled, (1,))))() == [2]


def test_a_sentence_of_our_own_comes_back_as_such(tmp_path):
    def refuse(task):
        raise SweepError("no such device.")

    jobs = Jobs(Submitting(tmp_path), lambda: None)
    with pytest.raises(SweepError, match="no such device"):
        jobs.submit(refuse, (1,)).result(5)
    jobs.shutdown()


def test_a_machine_that_submits_no_jobs(base, measurements, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SweepError, match=r"^--executor slurm: there is no sbatch on this machine"):
        execute(base, out=tmp_path, measurements=measurements, executor="slurm")
    assert not list(tmp_path.iterdir())
