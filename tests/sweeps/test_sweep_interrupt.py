"""Ctrl-C while a program is being compiled, which nothing can stop: the process does not wait for it."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from stablessm.sweeps.run import execute
from stablessm.sweeps.threads import Compilers

SCRIPT = """
import ctypes, json, signal, sys
sys.path.insert(0, {here!r})
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
import toy_measurement
import stablessm.measurements
stablessm.measurements.MEASUREMENTS = toy_measurement.MEASUREMENTS
from stablessm.cli import main
from stablessm.sweeps import programs

compile_ = programs.Programs._compile

def slowly(self, served, cells):
    if self.plan.static(served[0])["parameterization"].name == "best":
        print("compiling", flush=True)
        ctypes.CDLL(None).sleep(100)  # as XLA: no exception reaches it
    return compile_(self, served, cells)

programs.Programs._compile = slowly
main(["run", sys.argv[1], "--out", sys.argv[2]])
"""


def test_what_is_done_is_kept_and_nobody_waits(base, measurements, tmp_path):
    file = tmp_path / "toy.toml"
    text = [f"{key} = {json.dumps(base[key])}" for key in ("name", "measurement", "chunk")]
    text += ["[axes]", *(f"{key} = {json.dumps(value)}" for key, value in base["axes"].items())]
    file.write_text("\n".join(text))
    done = tmp_path / "out" / "raw" / "toy.zarr" / "status" / "c" / "0"  # of the map that compiles at once
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(here=str(Path(__file__).parent)), str(file), str(tmp_path / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            assert running.stdout.readline() == "compiling\n"
            while running.poll() is None and not done.exists():
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            _, error = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 130 and error.endswith("Error: interrupted.\n") and "Traceback" not in error
    seen = []
    again = execute(
        base, out=tmp_path / "out", measurements=measurements, progress=lambda one: seen.append(one.resumed)
    )
    assert seen[0] >= 4 and (again.dataset.status == 1).all()


def test_a_pool_gives_results_errors_and_drops_what_has_not_begun():
    from threading import Event

    pool, begun, go = Compilers(1), Event(), Event()
    first = pool.submit(lambda one: (begun.set(), go.wait(), one)[-1], 7)
    second, third = pool.submit(lambda: 1 / 0), pool.submit(int)
    assert begun.wait(30)
    third.cancel()
    go.set()
    assert first.result() == 7 and isinstance(second.exception(), ZeroDivisionError)
    with pytest.raises(CancelledError):
        third.result()
    go.clear()
    begun.clear()
    fourth, fifth = pool.submit(lambda: (begun.set(), go.wait())), pool.submit(int)
    assert begun.wait(30)
    pool.close()
    go.set()
    assert fourth.result() and fifth.cancelled()
