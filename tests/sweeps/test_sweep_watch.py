"""A sweep watched from outside, and logs for other tools."""

import math
import sys
import types

import pytest

from stablessm.sweeps import snapshot as looking
from stablessm.sweeps import stores
from stablessm.sweeps.errors import StoreError, SweepError
from stablessm.sweeps.header import read_header
from stablessm.sweeps.progress import Progress
from stablessm.sweeps.run import execute
from stablessm.sweeps.sinks import chosen, logging


def test_a_running_store_is_seen_as_it_is(base, measurements, tmp_path, registered):
    store, seen = tmp_path / "raw" / "toy.zarr", []

    def look(_):
        seen.append(looking.snapshot(store))

    execute(base, out=tmp_path, measurements=measurements, progress=look)
    counts = [one.progress for one in seen]
    assert [one.done for one in counts] == [0, 4, 8, 12, 16, 17, 18] and {one.cells for one in counts} == {18}
    assert [sum(one.outcomes.values()) for one in counts] == [one.done for one in counts]
    assert [one.over for one in seen] == [False] * 6 + [True] and all(one.running is not False for one in seen)
    assert looking.snapshot(store).running is not True


def test_a_sweep_that_grew_and_failures_are_counted(base, measurements, tmp_path, registered):
    execute(base, out=tmp_path, measurements=measurements)
    execute(base, out=tmp_path, measurements=measurements, overrides=["seed=0,1,2,3"])
    store = tmp_path / "raw" / "toy.zarr"
    assert looking.snapshot(store).progress.done == 24
    header = read_header(store)
    spec = looking.load_spec(header.spec, measurements=measurements)
    opened = stores.open_store(store, spec, looking_variables(spec, measurements))
    opened.fail(0, "reason")
    count = looking.snapshot(store).progress
    assert (count.done, count.failed) == (20, 4)


def looking_variables(spec, measurements):
    from stablessm.sweeps.resume import variables

    return variables(spec, measurements)


def test_a_store_that_is_none(tmp_path):
    with pytest.raises(StoreError, match="damaged or no store"):
        looking.snapshot(tmp_path)


@pytest.mark.slow
def test_the_command(call, tmp_path):
    settings = ["optimizer=adam", "parameterization=exp", "width=2", "steps=2", "target=sine", "seed=0"]
    words = [word for setting in settings for word in ("--set", setting)]
    code, _, error = call("show", "largest_rate", "--watch", "--out", "a")
    assert code == 2 and "no run of it has begun" in error
    assert call("run", "largest_rate", *words, "--out", "a", "--log", "tensorboard")[0] == 0
    assert list((tmp_path / "a" / "raw" / "largest_rate.logs" / "tensorboard").rglob("events*"))
    for what in (("largest_rate", "--out", "a"), ("a/raw/largest_rate.zarr",)):
        code, out, error = call("show", *what, "--watch", "--every", "0.1")
        assert code == 0 and "1 of 1 cells done, 0 failed" in out and "1/1 cells" in error
    for wrong in (("--every", "0"), ("--every", "nan"), ("--csv", "x.csv")):
        code, out, error = call("show", "largest_rate", "--out", "a", "--watch", *wrong)
        assert code == 2 and error.count("\n") == 1 and not out
    code, _, error = call("run", "largest_rate", *words, "--out", "b", "--log", "wandbb")
    assert (
        code == 2 and "--log: unknown log 'wandbb'; the nearest is 'wandb'" in error and not (tmp_path / "b").exists()
    )


def test_a_sink_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with (
        pytest.raises(SweepError, match=r"^--log wandb: it needs the package 'wandb'.*stablessm\[loggers\]"),
        logging(["wandb"], tmp_path, "toy", {}),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_weights_and_biases_is_offline_and_told_the_count(tmp_path, monkeypatch):
    told = []

    class Run:
        def log(self, values, step):
            told.append((step, values))

        def finish(self):
            told.append("finished")

    def init(**options):
        told.append(options["mode"])
        return Run()

    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=init))
    with logging(chosen(["wandb", "wandb"]), tmp_path, "toy", {"steps": 3}) as watch:
        progress = Progress(10, resumed=2, done=3, failed=1)
        progress.outcomes["converged"] = 3
        watch(progress)
    step, values = told[1]
    assert (told[0], step, told[2]) == ("offline", 6, "finished") and math.isfinite(values["cells/per_second"])
    assert (values["cells/done"], values["cells/failed"], values["outcome/converged"]) == (5, 1, 3)
