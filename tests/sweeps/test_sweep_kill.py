"""A run killed outright, at the worst moments, and then resumed: not a byte differs from an uninterrupted one."""

import json
import os
import signal
import subprocess
import sys
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


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    from toy_measurement import BASE, MEASUREMENTS

    return execute(BASE, out=tmp_path_factory.mktemp("whole"), measurements=MEASUREMENTS).path.read_bytes()


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
