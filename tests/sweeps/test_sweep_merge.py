"""Partial results joined: nothing is lost, nothing is chosen between, and what nobody did can be run."""

import json

import numpy as np
import pytest

from stablessm.datasets import DatasetError, load, save
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.merge import merge
from stablessm.sweeps.run import execute


@pytest.fixture
def go(base, tmp_path, measurements, finished):
    def call(folder, *overrides, stop=None, **rest):
        if not (overrides or rest or stop):
            return finished(tmp_path / folder).path

        def watch(state):
            if stop is not None and state.done >= stop:
                raise KeyboardInterrupt

        try:
            execute(base, out=tmp_path / folder, measurements=measurements, overrides=overrides, progress=watch, **rest)
        except KeyboardInterrupt:
            return tmp_path / folder / "raw" / "toy.zarr"
        return tmp_path / folder / "raw" / "toy.nc"

    return call


@pytest.fixture
def join(tmp_path, measurements):
    def call(*sources, out="joined"):
        merged = merge(sources, out=tmp_path / out, measurements=measurements)
        return merged, load(merged.path)

    return call


@pytest.mark.matrix(2)
@pytest.mark.parametrize("of", ["datasets", "stores"])
def test_seeds_of_two_machines(go, join, of):
    two, one = go("two", "seed=3,4"), go("one", "seed=0,1,2")
    if of == "stores":
        one, two = one.with_suffix(".zarr"), two.with_suffix(".zarr")
    merged, whole = join(two, one)
    assert merged.done == merged.cells == 30 and whole.seed.values.tolist() == [0, 1, 2, 3, 4]
    assert whole.seed.dtype.kind == "i" and (whole.status == 1).all()
    for path in (one, two):
        part = load(path.with_suffix(".nc"))
        for name in part.data_vars:
            same = whole[name].sel(seed=part.seed) if "seed" in whole[name].dims else whole[name]
            assert same.values.tobytes() == part[name].values.tobytes()
    about = json.loads(merged.path.with_suffix(".provenance.json").read_text())
    assert len(about["merged"]) == 2 and all(one["cells"] for one in about["merged"].values())


def test_stores_of_one_sweep_that_each_did_some(base, go, join, tmp_path, measurements):
    one, two = go("one", stop=8), go("two", stop=12)
    for item in (0, 3):  # the second has another item alone, the first has these
        (two / "status" / "c" / str(item)).unlink()
    merged, _ = join(one, two)
    assert (merged.done, merged.cells) == (12, 18)
    seen = []
    whole = execute(
        str(merged.path), out=tmp_path / "joined", measurements=measurements,
        progress=lambda state: seen.append(state.resumed),
    )  # fmt: skip
    assert seen[0] == 12 and (whole.dataset.status == 1).all()
    assert whole.path.read_bytes() == go("undisturbed").read_bytes()


@pytest.mark.slow
def test_what_nobody_did_stays_pending_and_can_be_run(base, go, join, tmp_path, measurements):
    one = go("one", "seed=0,1", "learning_rate=0.01,0.1", "chunk=2")
    two = go("two", "seed=1,2", "learning_rate=0.1,0.5", "chunk=3")
    merged, part = join(one, two)
    assert (merged.done, merged.cells, part.attrs["chunk"]) == (14, 18, 3)
    assert (part.status == 0).sum() == 4 and np.isnan(part.final_loss).sum() == 4
    kept = part.final_loss.values[(part.status == 1).values]
    whole = execute(str(merged.path), out=tmp_path / "joined", measurements=measurements)
    assert (whole.dataset.status == 1).all() and whole.failures == {}
    assert whole.dataset.final_loss.values[(part.status == 1).values].tobytes() == kept.tobytes()


@pytest.mark.slow
def test_maps_widths_and_three_at_once(go, join):
    one = go("one", "parameterization=exp", "width=2")
    two, three = go("two", "parameterization=best", "width=2"), go("three", "width=3")
    merged, whole = join(one, two, three)
    assert merged.done == merged.cells == 36 and whole.sizes["state"] == 3
    assert whole.parameterization.values.tolist() == ["exp", "best"]
    assert np.isnan(whole.pole.sel(width=2).values[..., 2]).all()


def test_different_values_of_one_cell_are_refused(go, join, tmp_path):
    one, two = go("one"), go("two", "seed=2,3")
    other = load(two)
    other.final_loss.values[0, 0, 0, 0] += 1e-3
    save(other, two)
    with pytest.raises(StoreError, match=r"one.*two.*hold different values of 'final_loss' for the same cell"):
        join(one, two)
    assert not (tmp_path / "joined").exists()


def test_what_is_no_part_is_refused(go, join, tmp_path):
    one, two = go("one"), go("two", "steps=7")
    with pytest.raises(StoreError, match=r"no parts of one sweep: they differ in settings.steps: 20 -> 7"):
        join(one, two)
    with pytest.raises(StoreError, match="but got one"):
        join(one)
    with pytest.raises(DatasetError, match="there is no dataset"):
        join(one, tmp_path / "none.nc")
    with pytest.raises(StoreError, match="no store of stablessm"):
        join(one, tmp_path)
    join(one, one)
    with pytest.raises(StoreError, match="is there already; give another --out"):
        join(one, one)


def test_the_command(call, tmp_path):
    for folder, one in (("a", "exp"), ("b", "best")):
        assert call("run", "maps", "--set", f"parameterization={one}", "--out", folder)[0] == 0
    code, out, _ = call("merge", "a/raw/maps.zarr", "b/raw/maps.nc", "--out", "c")
    assert code == 0 and "saved c/raw/maps.nc" in out and "cells are done" not in out
    code, _, error = call("merge", "a/raw/maps.zarr", "b/raw/maps.nc", "--out", "c")
    assert code == 2 and error.count("\n") == 1 and "is there already" in error
    assert call("merge", "a", "--out", "d")[0] == 2 and call("merge", "a")[0] == 2
