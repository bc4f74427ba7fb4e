"""Several devices in one process, and work items for which memory runs out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from stablessm.datasets import load
from stablessm.sweeps.header import read_header
from stablessm.sweeps.pieces import in_pieces, sharing
from stablessm.sweeps.programs import Programs
from stablessm.sweeps.run import execute

SCRIPT = """
import json, sys
sys.path.insert(0, {here!r})
import jax
from toy_measurement import BASE, MEASUREMENTS
from stablessm.sweeps.run import execute
assert len(jax.devices()) == 2
for folder, chunk in (("four", 4), ("three", 3)):
    execute(BASE, out=sys.argv[1] + "/" + folder, chunk=chunk, measurements=MEASUREMENTS)
"""


def test_cells_are_shared_by_two_devices(base, measurements, tmp_path):
    """Two devices of two cells each give the bits of one device with two cells at a time."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags}
    command = [sys.executable, "-c", SCRIPT.format(here=str(Path(__file__).parent)), str(tmp_path)]
    subprocess.run(command, env=environment, check=True, timeout=300)
    shared = load(tmp_path / "four" / "raw" / "toy.nc")
    alone = execute(base, out=tmp_path / "two", chunk=2, measurements=measurements).dataset
    for name in shared.data_vars:
        np.testing.assert_array_equal(shared[name], alone[name])
    on = {folder: json.loads((tmp_path / folder / "raw" / "toy.provenance.json").read_text())["device"]
          for folder in ("four", "three")}  # fmt: skip
    assert on == {"four": "cpu cpu x 2", "three": "cpu cpu"}  # three cells cannot be shared by two


@pytest.mark.parametrize(
    ("devices", "cells", "used"), [(1, 4, 1), (2, 4, 2), (3, 4, 2), (8, 6, 6), (4, 1, 1), (4, 7, 1)]
)
def test_as_many_devices_as_share_the_cells_evenly(devices, cells, used):
    assert sharing(range(devices), cells) == tuple(range(used))


def exhausted(*_):
    raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.")


@pytest.mark.parametrize("when", ["compiling", "running"])
def test_a_work_item_that_does_not_fit_is_computed_in_halves_and_the_store_says_so(
    base, measurements, tmp_path, monkeypatch, when
):
    fits = execute(base, out=tmp_path / "two", chunk=2, measurements=measurements).dataset
    compile_ = Programs._compile

    def small(self, combination, cells):
        if cells <= 2:
            return compile_(self, combination, cells)
        return exhausted() if when == "compiling" else exhausted

    monkeypatch.setattr(Programs, "_compile", small)
    halves = execute(base, out=tmp_path / "four", measurements=measurements)
    assert halves.failures == {} and halves.dataset.attrs["chunk"] == 4
    for name in fits.data_vars:
        np.testing.assert_array_equal(halves.dataset[name], fits[name])
    about = json.loads(halves.path.with_suffix(".provenance.json").read_text())
    assert about["in_pieces"] == {str(item): 2 for item in range(6)}
    again = read_header(tmp_path / "four" / "raw" / "toy.zarr")
    assert again.digest and len(list((tmp_path / "four" / "raw" / "toy.zarr" / "pieces").glob("*.txt"))) == 6


def test_what_does_not_fit_one_by_one_is_a_failure(base, measurements, tmp_path, monkeypatch):
    monkeypatch.setattr(Programs, "_compile", exhausted)
    failures = execute(base, out=tmp_path, measurements=measurements).failures
    assert set(failures) == set(range(6)) and failures[0].startswith("JaxRuntimeError: RESOURCE_EXHAUSTED")


def test_another_error_is_no_matter_of_size():
    def refuse(*_):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_pieces(lambda cells: refuse, 4, {}, None, np.arange(4), ())


def test_pieces_of_an_odd_number_of_cells():
    seen = []

    def compiled(cells):
        def run(traced, starts, index):
            seen.append(index.tolist())
            return exhausted() if cells > 3 else {"index": index, "rate": traced["rate"] + traced["choice"]}

        return run

    traced = {"rate": np.arange(5.0), "choice": np.float64(1)}
    found = in_pieces(compiled, 5, traced, None, np.arange(5), ())
    assert found.size == 3 and found.pieces == 2 and seen == [[0, 1, 2, 3, 4], [0, 1, 2], [3, 4, 4]]
    assert found.results["index"].tolist() == [0, 1, 2, 3, 4] and found.results["rate"].tolist() == [1, 2, 3, 4, 5]
