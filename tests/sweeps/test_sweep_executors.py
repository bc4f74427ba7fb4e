"""Whoever computes, the bytes are the same; a worker that dies costs its work item another try, and no more."""

import dataclasses
import json
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from stablessm.sweeps import compute
from stablessm.sweeps.dispatch import answers
from stablessm.sweeps.errors import ExecutorError, SweepError
from stablessm.sweeps.executors import Hiring
from stablessm.sweeps.run import execute
from stablessm.sweeps.work import Answer


@pytest.fixture
def go(base, tmp_path, measurements):
    def call(folder="out", **rest):
        return execute(base, **{"out": tmp_path / folder, "measurements": measurements, **rest})

    return call


def test_processes_one_of_which_dies_give_the_same_bytes(base, go, tmp_path):
    base["settings"] = {"mode": f"its worker dies {tmp_path / 'died'}"}
    here = go("here")
    there = go("there", executor="processes", workers=2)
    assert (tmp_path / "died").exists() and there.failures == {}
    assert there.path.read_bytes() == here.path.read_bytes()
    about = json.loads(there.path.with_suffix(".provenance.json").read_text())
    assert about["executor"] == "processes" and about["device"] == "cpu cpu"


def test_an_executor_of_ones_own(go):
    with ThreadPoolExecutor(2) as threads:
        there = go("there", executor=threads)
        assert threads.submit(int).result() == 0  # it is the caller's to shut down
    assert there.path.read_bytes() == go("here").path.read_bytes()


def test_a_measurement_that_cannot_be_sent_is_refused(base, measurements, tmp_path):
    local = {"toy": dataclasses.replace(measurements["toy"], variables=lambda settings: {})}
    with pytest.raises(SweepError, match=r"^the measurement 'toy' cannot be sent to other processes \(.*lambda"):
        execute(base, out=tmp_path, measurements=local, executor="processes")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("proceses",), "--executor: unknown executor 'proceses'; the nearest is 'processes'"),
        ((3,), "--executor: expected one of local, processes, dask, slurm, but got 3"),
        (("processes", 0), "--workers: it must be an integer from 1 to 4096, but got 0"),
        (("processes", -1), "but got -1"),
        (("processes", float("nan")), "but got nan"),
        (("processes", True), "but got True"),
        (("processes", 5000), "but got 5000"),
        (("local", 2), "--workers: the executor local is one process"),
        (("processes", 2, "tcp://a:1"), "--scheduler: only --executor dask has a scheduler"),
        (("dask",), "--scheduler: --executor dask needs the address of a scheduler"),
        (("dask", None, " "), "or slurm, but got ' '"),
        (("dask", 2, "tcp://a:1"), "--workers: those of a dask cluster are started beside its scheduler"),
    ],
)
def test_what_cannot_be_hired(arguments, sentence):
    with pytest.raises(SweepError) as caught:
        Hiring(*arguments)
    assert str(caught.value).startswith(sentence) or sentence in str(caught.value)


def test_workers_take_gpus_by_turns_and_threads_and_memory_are_pinned(monkeypatch, tmp_path):
    from stablessm.sweeps.executors import pinning

    monkeypatch.setattr(pinning.os, "environ", environment := {"CUDA_VISIBLE_DEVICES": "4,7", "OMP_NUM_THREADS": "3"})
    pinning.take_gpu(3)
    pinning.pin(2)
    assert environment["CUDA_VISIBLE_DEVICES"] == "7" and environment["NPROC"] == "2"
    assert environment["OMP_NUM_THREADS"] == "3" and environment["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    for number in range(3):
        (tmp_path / str(number)).mkdir()
    monkeypatch.setattr(pinning, "_INSTALLED", tmp_path)
    for given, taken in (({}, "1"), ({"CUDA_VISIBLE_DEVICES": ""}, "")):
        monkeypatch.setattr(pinning.os, "environ", given)
        pinning.take_gpu(4)
        assert given["CUDA_VISIBLE_DEVICES"] == taken


class Unsteady(Executor):
    """Loses the tasks that `lost` says, and remembers how many were out at a time."""

    def __init__(self, lost):
        self.lost, self.given, self.out, self.most = lost, [], 0, 0

    def submit(self, function, task):
        self.given.append(task)
        self.out += 1
        self.most = max(self.most, self.out)
        future = Future()
        future.add_done_callback(lambda _: setattr(self, "out", self.out - 1))
        if self.lost(task, self.given.count(task)):
            threading.Timer(0.01, future.set_exception, [RuntimeError("the node is gone")]).start()
        else:
            threading.Timer(0.01, future.set_result, [function(task)]).start()
        return future


def given_back(task):
    return [Answer(number, {}) for number in task]


def test_a_lost_task_is_given_again_in_parts_and_memory_does_not_grow():
    executor = Unsteady(lambda task, time: 3 in task and len(task) > 1)
    tasks = ((number, number + 1) for number in range(1, 200, 2))
    found = list(answers(executor, given_back, tasks, lambda: 4))
    assert sorted(one.number for one in found) == list(range(1, 201)) and all(one.results == {} for one in found)
    assert executor.most == 4 and executor.given.count((3, 4)) == 2 and executor.given.count((3,)) == 1
    assert (1,) not in executor.given


def test_a_task_that_is_lost_every_time_is_a_failure():
    executor = Unsteady(lambda task, time: task == (5,))
    found = {one.number: one for one in answers(executor, given_back, [(4,), (5,), (6,)], lambda: 2)}
    assert found[4].results == found[6].results == {} and executor.given.count((5,)) == 3
    assert found[5].reason == "its worker was lost 3 times, at the end with RuntimeError: the node is gone"


def test_a_sentence_of_our_own_ends_the_sweep_and_what_is_out_is_cancelled():
    def refuse(task):
        if task == (1,):
            raise SweepError("no such device.")
        time.sleep(0.2)
        return []

    with ThreadPoolExecutor(1) as threads:
        futures = []

        class Watched(Executor):
            def submit(self, *arguments):
                futures.append(threads.submit(*arguments))
                return futures[-1]

        with pytest.raises(SweepError, match="no such device"):
            list(answers(Watched(), refuse, [(1,), (2,), (3,), (4,)], lambda: 4))
    assert futures[-1].cancelled()


def test_an_executor_that_is_gone(go):
    threads = ThreadPoolExecutor(1)
    threads.shutdown()
    with pytest.raises(ExecutorError, match=r"^the executor takes no more work \(RuntimeError: cannot schedule"):
        go(executor=threads)


def test_an_interruption_keeps_what_is_done(base, go, measurements):
    calls = []

    def interrupt(state):
        calls.append(state.done)
        if state.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go("out", progress=interrupt)
    seen = []
    go("out", progress=lambda state: seen.append(state.resumed))
    assert calls == [0, 4] and seen[0] == 4


def test_tasks_of_several_items_stay_in_one_combination(base, measurements):
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.plan import Plan

    plan = Plan(load_spec(base, chunk=2, measurements=measurements))
    assert plan.numbers[1] == [5, 6, 7, 8, 9]
    tasks = list(compute.tasks(plan, [1, 0], {0, 1, 3, 4, 5, 9}, 3))
    assert tasks == [(5, 9), (0, 1), (3, 4)]
    assert list(compute.tasks(plan, [1, 0], {0, 5, 6}, None)) == [(5,), (0,), (6,)]
