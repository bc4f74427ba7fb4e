"""A run killed outright, at the worst moments, and then resumed: not a byte differs from an uninterrupted one."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from stablessm.sweeps.run import execute

SCRIPT = """
import json, os, signal, sys
sys.path.insert(0, {here!r})
from toy_measurement import MEASUREMENTS
from stablessm.sweeps import run, store

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

moment = sys.argv[1]
if moment == "while the store is made":
    store.os.rename = kill
if moment == "in the middle of a work item":
    read = store.Store.write
    def write(self, item, values, items=[], **rest):
        items.append(item)
        if len(items) == 3:
            self._arrays["final_loss"][self._cells(item)] = values["final_loss"]
            kill()
        read(self, item, values)
    store.Store.write = write
if moment == "before the status":
    class Killing:
        def __getitem__(self, where):
            return 0
        def __setitem__(self, where, what):
            kill()
    opened = store.Store.__init__
    def init(self, *arguments):
        opened(self, *arguments)
        self._arrays["status"] = Killing()
        self.status = lambda: __import__("numpy").zeros(self.items)
    store.Store.__init__ = init
if moment == "during the export":
    run.datasets.os.fsync = kill
run.execute(json.loads(sys.argv[2]), out=sys.argv[3], measurements=MEASUREMENTS)
"""
MOMENTS = {
    "while the store is made": None,
    "before the status": 0,
    "in the middle of a work item": 2,
    "during the export": 6,
}


@pytest.fixture
def uninterrupted(tmp_path, finished):
    return finished(tmp_path / "whole").path.read_bytes()


@pytest.mark.matrix(2)
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_resumed_equals_uninterrupted(base, measurements, tmp_path, uninterrupted, moment):
    script = SCRIPT.format(here=str(Path(__file__).parent))
    killed = subprocess.run([sys.executable, "-c", script, moment, json.dumps(base), str(tmp_path)], env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    raw = tmp_path / "raw"
    assert not (raw / "toy.nc").exists()
    seen = []
    result = execute(base, out=tmp_path, measurements=measurements, progress=lambda state: seen.append(state.resumed))
    done = MOMENTS[moment]
    if done == 6:
        assert result.computed == 0 and seen == []
    else:
        assert seen[0] == (done or 0) * 4
    assert result.path.read_bytes() == uninterrupted
    assert not list(raw.rglob("*.partial")) and np.isfinite(result.dataset.final_loss).all()


RUNNING = """
import json, sys
sys.path.insert(0, {here!r})
from toy_measurement import MEASUREMENTS
from stablessm.sweeps.run import execute

def told(progress):
    print(progress.resumed + progress.done, flush=True)

execute(json.loads(sys.argv[1]), out=sys.argv[2], measurements=MEASUREMENTS, progress=told)
"""


@pytest.mark.slow
def test_killed_at_random_moments(base, measurements, tmp_path):
    """Twenty times: whenever it is killed, nothing is lost and not a byte differs."""
    times = 20
    base["axes"]["seed"] = {"range": 20 * times}
    chance = random.Random(f"{time.time()}")
    script = RUNNING.format(here=str(Path(__file__).parent))
    done, moments = 0, []
    for _ in range(times):
        running = subprocess.Popen(
            [sys.executable, "-c", script, json.dumps(base), str(tmp_path / "killed")],
            stdout=subprocess.PIPE,
            text=True,
        )
        first = [running.stdout.readline() for _ in range(2)]  # the set-up and an item; empty where all is done
        moments.append(chance.uniform(0, 0.4))
        time.sleep(moments[-1])
        running.kill()
        told = [int(line) for line in [*first, *running.stdout.read().split("\n")[:-1]] if line.strip()]
        running.wait()
        running.stdout.close()
        assert not told or told[0] >= done, f"what was done is lost; killed after {moments}"
        done = told[-1] if told else done
    assert done > 0
    again = execute(base, out=tmp_path / "killed", measurements=measurements)
    whole = execute(base, out=tmp_path / "whole", measurements=measurements)
    assert again.path.read_bytes() == whole.path.read_bytes(), f"killed after {moments}"
