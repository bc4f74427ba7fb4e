import dataclasses
import json

import numpy as np
import pytest
import xarray as xr
from toy_measurement import TRACES

from stablessm.datasets import DatasetError, DatasetWriteError, load, validate
from stablessm.sweeps import run
from stablessm.sweeps.declarations import spec_from_json
from stablessm.sweeps.errors import StoreError, SweepError, WriteError
from stablessm.sweeps.run import execute, run_sweep


@pytest.fixture
def go(tmp_path, measurements):
    """Run a declaration into a folder of its own."""

    def call(document, **rest):
        return execute(document, **{"out": tmp_path, "measurements": measurements, **rest})

    return call


def test_a_sweep_gives_a_labelled_dataset(base, go, tmp_path, measurements):
    base["axes"]["parameterization"].append({"name": "best", "constants": {"b": 0.2}})
    result = go(base)
    dataset = result.dataset
    assert result.path == tmp_path / "raw" / "toy.nc" and result.computed == 27 and result.failures == {}
    axes = ("parameterization", "width", "seed", "learning_rate")
    assert dataset.outcome.dims == axes and dataset.loss.dims == (*axes, "step") and dataset.pole.dtype == np.complex64
    assert dataset.parameterization.values.tolist() == ["exp", "best", "best (b=0.2)"] and dataset.sizes["width"] == 1
    assert dataset.learning_rate.values.tolist() == [0.01, 0.1, 0.5] and dataset.seed.values.tolist() == [0, 1, 2]
    assert dataset.link.values.tolist() == ["continuous"] * 3 and dataset.formula.values[0] == "exp(w)"
    assert (dataset.status == 1).all() and np.isfinite(dataset.final_loss).all()
    assert dataset.attrs["checks"]["start_hash"] == "equal across parameterization for each seed"
    assert dataset.attrs["chunk"] == 4 and dataset.attrs["version"] == "0.1.0"
    validate(dataset)
    xr.testing.assert_identical(load(result.path), dataset)
    assert spec_from_json(dataset.attrs["spec"], measurements=measurements).name == "toy"
    provenance = json.loads((tmp_path / "raw" / "toy.provenance.json").read_text())
    assert provenance["computed"] == provenance["cells"] == 27 and provenance["packages"]["jax"]
    assert {"commit", "seconds", "cells_per_second", "device", "finished", "failures"} <= provenance.keys()


def test_one_trace_and_one_start_however_many_work_items(base, go):
    base["axes"]["width"] = [2, 3]
    TRACES.clear()
    go(base, chunk=2)
    assert TRACES.pop("start") == 2
    assert dict(TRACES) == {(name, "continuous", width): 1 for name in ("exp", "best") for width in (2, 3)}


def test_starts_are_equal_across_maps_and_differ_across_seeds(base, go):
    base["axes"]["link"] = ["continuous", "exponential"]
    hashes = go(base).dataset.start_hash
    assert len(np.unique(hashes)) == 3
    assert (hashes == hashes.isel(parameterization=0, link=0, learning_rate=0)).all()


def test_a_cell_alone_equals_the_cell_in_the_sweep(base, go, tmp_path, finished):
    whole = finished(tmp_path / "whole").dataset
    base["axes"] = {"parameterization": ["best"], "seed": [2], "learning_rate": [0.1]}
    alone = go(base, out=tmp_path / "alone", chunk=1).dataset.squeeze(drop=True)
    same = whole.sel(parameterization="best", seed=2, learning_rate=0.1).squeeze(drop=True)
    assert int(alone.start_hash) == int(same.start_hash) and int(alone.outcome) == int(same.outcome)
    for name in ("final_loss", "loss", "pole", "initial_eigenvalue"):
        np.testing.assert_allclose(alone[name], same[name], rtol=1e-5, atol=1e-9)


def test_padding_does_not_show(base, go, tmp_path):
    few = go(base, chunk=7).dataset
    all_ = go(base, chunk=9, out=tmp_path / "all").dataset
    for name in few.data_vars:
        np.testing.assert_allclose(few[name], all_[name], rtol=1e-5, atol=1e-9)


def test_two_runs_give_the_same_bytes(base, go, tmp_path, finished):
    first, second = finished(tmp_path / "first"), go(base)
    assert first.path.read_bytes() == second.path.read_bytes()


def test_what_is_done_is_not_run_again(base, go, tmp_path, finished):
    first = finished(tmp_path)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    TRACES.clear()
    again = go(base)
    assert again.computed == 0 and not TRACES
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    xr.testing.assert_identical(first.dataset, again.dataset)
    first.path.unlink()
    exported = go(base)
    assert exported.computed == 0 and not TRACES and exported.path.exists()
    assert go(base, fresh=True).computed == 18


def test_another_sweep_is_refused_with_the_difference(base, go, tmp_path, finished):
    finished(tmp_path)
    content = (tmp_path / "raw" / "toy.nc").read_bytes()
    with pytest.raises(StoreError, match=r"holds a different sweep \(axes.seed: \[0, 1, 2\] -> \[5\]; settings.steps"):
        go(base, overrides=["seed=5", "steps=10"])
    (tmp_path / "raw" / "toy.nc").unlink()
    with pytest.raises(StoreError, match=r"toy\.zarr' holds a different sweep \(axes.seed: \[0, 1, 2\] -> \[5\]\)"):
        go(base, overrides=["seed=5"])
    (tmp_path / "raw" / "toy.nc").write_bytes(content)
    assert go(base, overrides=["seed=5"], fresh=True).dataset.seed.values.tolist() == [5]


def test_a_new_title_costs_nothing(base, go, tmp_path, finished):
    finished(tmp_path)
    base["title"] = "A title"
    TRACES.clear()
    result = go(base)
    assert result.dataset.attrs["title"] == "A title" and not TRACES
    assert load(result.path).attrs["title"] == "A title"


@pytest.mark.parametrize("mode", ["trace fails", "build fails"])
def test_a_failure_is_kept_and_the_others_go_on(base, go, measurements, mode, tmp_path, monkeypatch):
    if mode == "build fails":
        build = type(measurements["toy"]).build

        def refuse(self, static, settings):
            if static["parameterization"].name == "exp":
                raise RuntimeError("exp cannot be built\nand more")
            return build(self, static, settings)

        monkeypatch.setattr(type(measurements["toy"]), "build", refuse)
    else:
        base["settings"] = {"mode": mode}
    seen = []
    result = go(base, progress=lambda state: seen.append((state.done, state.failed, state.reason)))
    assert sorted(result.failures) == [0, 1, 2] and result.failures[0].startswith("RuntimeError: exp cannot be ")
    assert "\n" not in result.failures[0] and seen[-1][:2] == (9, 9)
    status = result.dataset.status
    assert (status.sel(parameterization="exp") == 2).all() and (status.sel(parameterization="best") == 1).all()
    assert np.isnan(result.dataset.final_loss.sel(parameterization="exp")).all()
    assert result.dataset.outcome.attrs["flag_meanings"].split()[-1] == "not_computed"
    assert json.loads((tmp_path / "raw" / "toy.provenance.json").read_text())["failures"]["0"]
    if mode == "build fails":
        monkeypatch.undo()
        mended = go(base)
        assert mended.computed == 9 and mended.failures == {} and (mended.dataset.status == 1).all()


def test_nothing_to_build_is_an_error(base, go, tmp_path):
    base["settings"] = {"mode": "no build"}
    with pytest.raises(SweepError, match="no part of this sweep can be built: RuntimeError: this map has no program"):
        go(base)
    assert not list(tmp_path.iterdir())


def test_unequal_initial_eigenvalues_are_refused(base, go):
    base["settings"] = {"mode": "different starts"}
    with pytest.raises(SweepError, match="the initial eigenvalues differ across maps by up to"):
        go(base)


def test_unequal_starts_are_refused(base, go, monkeypatch, measurements):
    build = type(measurements["toy"]).build

    def own_start(self, static, settings):
        program = build(self, static, settings)
        shift = len(static["parameterization"].name)
        return program._replace(start=lambda seed: program.start(seed + shift))

    monkeypatch.setattr(type(measurements["toy"]), "build", own_start)
    with pytest.raises(SweepError, match="the starts of seed 0 differ across maps"):
        go(base)


def test_widths_may_have_different_inner_sizes(base, go):
    base["axes"]["width"] = [1, 3]
    pole = go(base).dataset.pole
    assert pole.sizes["state"] == 3 and np.isfinite(pole.sel(width=3)).all()
    assert np.isnan(pole.sel(width=1).values[..., 1:]).all() and np.isfinite(pole.sel(width=1).values[..., 0]).all()


def test_results_must_be_as_declared(base, go, measurements, tmp_path):
    toy = measurements["toy"]

    def more(settings):
        return {**toy.variables(settings), "missing": toy.variables(settings)["loss"]}

    result = go(base, measurements={"toy": dataclasses.replace(toy, variables=more)})
    assert set(result.failures.values()) == {"ValueError: the measurement returned no variable 'missing'"}

    def wrong(settings):
        return {**toy.variables(settings), "loss": toy.variables(settings)["final_loss"]}

    result = go(base, measurements={"toy": dataclasses.replace(toy, variables=wrong)}, out=tmp_path / "wrong")
    assert "returned 'loss' with shape (3,), declared ()" in result.failures[0]

    def clash(settings):
        loss = toy.variables(settings)["loss"]
        return {**toy.variables(settings), "loss": dataclasses.replace(loss, dims=("seed",))}

    with pytest.raises(SweepError, match="'loss' has the dimension 'seed', which is an axis"):
        go(base, measurements={"toy": dataclasses.replace(toy, variables=clash)}, out=tmp_path / "clash")


def test_double_precision_stays_inside_the_sweep(base, go):
    import jax

    result = go(base, overrides=["precision=float64"])
    assert result.dataset.final_loss.dtype == np.float64 and result.dataset.pole.dtype == np.complex128
    assert not jax.config.jax_enable_x64 and result.dataset.start_hash.dtype == np.uint64


def test_progress_counts_outcomes_and_resumed_cells(base, go, monkeypatch):
    seen = []

    class Killed(BaseException):
        pass

    def stop(state):
        seen.append(state.done)
        if state.done > 6:
            raise Killed

    with pytest.raises(Killed):
        go(base, progress=stop)
    assert seen[:2] == [0, 4]
    last = {}
    go(base, progress=lambda state: last.update(vars(state)))
    assert last["resumed"] == 8 and last["done"] == 10 and sum(last["outcomes"].values()) == 10


def test_devices(base, go):
    import jax

    with pytest.raises(SweepError, match="--device: unknown device 'tpuu'"):
        go(base, device="tpuu")
    if jax.default_backend() != "gpu":
        with pytest.raises(SweepError, match="--device gpu: JAX finds no gpu on this machine"):
            go(base, device="gpu")
    assert go(base, device="cpu").computed == 18


def test_foreign_and_damaged_files_are_left_alone(base, go, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "toy.nc").write_text("precious")
    for fresh in (False, True):
        with pytest.raises(DatasetError, match=r"toy\.nc' is damaged, or no netCDF file; it is not overwritten"):
            go(base, fresh=fresh)
    (raw / "toy.nc").unlink()
    (raw / "toy.zarr").mkdir()
    (raw / "toy.zarr" / "mine").write_text("precious")
    for fresh in (False, True):
        with pytest.raises(StoreError, match=r"toy\.zarr' is damaged or no store of stablessm; it is not overwritten"):
            go(base, fresh=fresh)
    assert [path.name for path in raw.rglob("*")] == ["toy.zarr", "mine"]


def test_a_full_disk_at_the_export_costs_nothing(base, go, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("stablessm.datasets.os.fsync", refuse)
        with pytest.raises(DatasetWriteError, match="No space left on device"):
            go(base)
    TRACES.clear()
    assert go(base).path.exists() and not TRACES


def test_a_full_disk_in_a_work_item_keeps_what_is_done(base, go, monkeypatch):
    from stablessm.sweeps.store import Store

    write, items = Store.write, []

    def refuse(self, item, values, **rest):
        if len(items) == 2:
            from zarr.core.array import Array

            with monkeypatch.context() as broken:
                broken.setattr(Array, "__setitem__", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
                write(self, item, values)
        items.append(item)
        write(self, item, values)

    monkeypatch.setattr(Store, "write", refuse)
    with pytest.raises(WriteError, match=r"toy\.zarr' cannot be written: No space left; what is done is kept"):
        go(base)
    monkeypatch.undo()
    result = go(base)
    assert result.computed == 10 and result.failures == {}


def test_run_sweep_returns_the_dataset(base, tmp_path, measurements):
    assert run_sweep(base, out=tmp_path, measurements=measurements).attrs["measurement"] == "toy"
    import stablessm

    assert stablessm.run_sweep is run.run_sweep
