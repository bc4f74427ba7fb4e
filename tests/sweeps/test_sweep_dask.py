"""A dask cluster one process of which is killed in the middle of a sweep; addresses where nobody answers."""

import socket

import pytest

from stablessm.sweeps.errors import SweepError
from stablessm.sweeps.executors import dask as kind
from stablessm.sweeps.run import execute


@pytest.mark.filterwarnings("ignore")  # of dask itself, about a worker that it lost
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])  # one is started again
def test_a_worker_that_is_killed_costs_nothing(base, measurements, tmp_path, workers):
    from distributed import LocalCluster

    base["settings"] = {"mode": f"its worker dies {tmp_path / 'died'}"}
    here = execute(base, out=tmp_path / "here", measurements=measurements)
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        there = execute(
            base,
            out=tmp_path / "there",
            measurements=measurements,
            executor="dask",
            scheduler=cluster.scheduler_address,
        )
    assert (tmp_path / "died").exists() and there.failures == {}
    assert there.path.read_bytes() == here.path.read_bytes()


@pytest.mark.parametrize("where", ["nonsense", "tcp://", "http://a:1", "tcp://a:b", "inproc://a"])
def test_no_address_is_one_sentence_and_nothing_is_written(base, measurements, tmp_path, where):
    with pytest.raises(SweepError, match=f"^--scheduler: no dask scheduler answers at '{where}'"):
        execute(base, out=tmp_path, measurements=measurements, executor="dask", scheduler=where)
    assert not list(tmp_path.iterdir())


def test_somebody_else_at_the_address(base, measurements, tmp_path, monkeypatch):
    monkeypatch.setattr(kind, "SECONDS_TO_ANSWER", 0.5)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SweepError, match=f"no dask scheduler answers at 'tcp://127.0.0.1:{port}'"):
            execute(base, out=tmp_path, measurements=measurements, executor="dask", scheduler=f"tcp://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("content", "sentence"), [(None, "there is no scheduler file"), ("{", "is no file of"), ("[]", "is no file of")]
)
def test_a_scheduler_file_that_is_none(base, measurements, tmp_path, content, sentence):
    file = tmp_path / "scheduler.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SweepError, match=rf"^--scheduler: .*{sentence}"):
        execute(base, out=tmp_path / "out", measurements=measurements, executor="dask", scheduler=str(file))


@pytest.mark.parametrize(
    ("kind", "module", "extra"), [("dask", "distributed", "cluster"), ("slurm", "submitit", "slurm")]
)
def test_an_extra_that_is_not_installed(base, measurements, tmp_path, monkeypatch, kind, module, extra):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    scheduler = "tcp://127.0.0.1:1" if kind == "dask" else None
    with pytest.raises(SweepError, match=rf"^--executor {kind}: it needs the package '.*stablessm\[{extra}\]'"):
        execute(base, out=tmp_path, measurements=measurements, executor=kind, scheduler=scheduler)
    assert not list(tmp_path.iterdir())
