"""--quiet: progress is not told, what goes wrong is."""

import os
from dataclasses import replace

from stablessm.cli.progress import watching
from stablessm.cli.quiet import VARIABLE
from stablessm.cli.training import telling
from stablessm.runs.training import Status
from stablessm.sweeps.progress import Progress

SWEEP = Progress(cells=4, resumed=0, done=1, failed=0, outcomes={"converged": 1})
RUN = Status(step=1, steps=2, loss=0.5, rate=1.0, metric="accuracy", validation=None)


def told(capsys):
    with watching("sweep") as watch, telling("run") as tell:
        watch(SWEEP)
        watch(replace(SWEEP, failed=1, reason="no memory is left"))
        tell(RUN)
    return capsys.readouterr().err


def test_progress_is_told_unless_it_is_quiet(capsys, monkeypatch):
    loud = told(capsys)
    assert "1/4 cells" in loud and "failed: no memory is left" in loud and "run: 1/2 steps" in loud
    monkeypatch.setenv(VARIABLE, "1")
    assert told(capsys) == "sweep: failed: no memory is left\n"
    monkeypatch.setenv(VARIABLE, "0")
    assert "1/4 cells" in told(capsys)


def test_the_option_is_the_variable(call, monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    assert call("--quiet", "list")[0] == 0 and os.environ[VARIABLE] == "1"
    monkeypatch.setenv(VARIABLE, "")  # put back
