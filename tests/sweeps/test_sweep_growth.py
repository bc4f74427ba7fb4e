"""Axes that grow: what is done keeps its bits, and nothing but the new cells is computed."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from stablessm.sweeps import stores
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.growth import grown, places_in
from stablessm.sweeps.header import read_header
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.run import execute


@pytest.fixture
def go(base, tmp_path, measurements, finished):
    def call(*overrides, folder="out", **rest):
        if not (overrides or rest or (tmp_path / folder).exists()):
            return finished(tmp_path / folder)
        return execute(base, out=tmp_path / folder, measurements=measurements, overrides=overrides, **rest)

    return call


def same_bits(old, new):
    for name in old.data_vars:
        kept = new[name].sel({dim: old[dim] for dim in old[name].dims if dim in ("seed", "learning_rate", "width")})
        kept = kept.sel(parameterization=old.parameterization)
        kept = kept.isel({dim: slice(old.sizes[dim]) for dim in old[name].dims if dim in ("state", "step")})
        assert kept.values.tobytes() == old[name].values.tobytes(), name


@pytest.mark.parametrize(
    "longer",
    ["seed=0,1,2,7,8", "learning_rate=0.01,0.03,0.1,0.5", "parameterization=softplus,exp,best", "width=2,3",
     "seed=2,1,0,5"],
)  # fmt: skip
@pytest.mark.parametrize("source", ["store", "dataset"])
@pytest.mark.matrix(5)
def test_only_the_new_cells_are_computed(go, tmp_path, longer, source):
    before = go()
    if source == "dataset":
        stores.remove(tmp_path / "out" / "raw" / "toy.zarr")
    seen = []
    after = go(longer, progress=lambda state: seen.append(state.resumed))
    assert after.failures == {} and seen[0] == 18 and after.computed == after.dataset.status.size - 18
    same_bits(before.dataset, after.dataset)
    fresh = go(longer, folder="fresh").dataset
    assert after.dataset.attrs["spec"] == fresh.attrs["spec"] and (after.dataset.status == 1).all()
    for name in fresh.data_vars:
        np.testing.assert_allclose(after.dataset[name], fresh[name], rtol=1e-5, atol=1e-9)
    again = go(longer)
    assert again.computed == 0 and again.dataset.identical(after.dataset)


@pytest.mark.slow
def test_growth_upon_growth_with_other_workers(go, tmp_path):
    first, second = go(), go("seed=0,1,2,3")
    with ThreadPoolExecutor(1) as threads:  # the header tells a worker what the sweep has grown from
        third = go("seed=0,1,2,3", "learning_rate=0.01,0.1,0.2,0.5", "width=2,3", executor=threads)
    same_bits(first.dataset, third.dataset)
    same_bits(second.dataset, third.dataset)
    assert third.computed == 2 * 2 * 4 * 4 - 24
    assert len(read_header(tmp_path / "out" / "raw" / "toy.zarr").earlier) == 2


def test_a_float_is_matched_by_its_value_and_not_by_its_text(go):
    go()
    close = 0.10000001  # another float32, and the same six digits
    result = go(f"learning_rate=0.01,0.1,{close!r},0.5")
    assert result.computed == 6 and result.dataset.learning_rate.values.tolist() == [0.01, 0.1, close, 0.5]


def test_a_shorter_axis_or_another_setting_is_refused(go):
    go()
    for overrides, why in (
        (["seed=0,1"], r"axes.seed: \[0, 1, 2\] -> \[0, 1\]"),
        (["seed=0,1,3"], r"axes.seed: \[0, 1, 2\] -> \[0, 1, 3\]"),
        (["seed=0,1,2,3", "steps=10"], "settings.steps: 20 -> 10"),  # the longer axis is in nobody's way
        (["seed=0,1,2,3", "chunk=5"], "chunk: 4 -> 5"),
    ):
        with pytest.raises(StoreError, match=rf"holds a different sweep \({why}\): "):
            go(*overrides)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("source", ["store", "dataset"])
def test_the_size_of_work_items_stays_unless_another_is_asked_for(base, go, tmp_path, source):
    assert go(chunk=5).dataset.attrs["chunk"] == 5  # the declaration says 4
    assert go().computed == 0
    if source == "dataset":
        stores.remove(tmp_path / "out" / "raw" / "toy.zarr")
    with pytest.raises(StoreError, match=r"different sweep \(chunk: 5 -> 4\): leave --chunk out to go on with it"):
        go("seed=0,1,2,3", chunk=4)
    del base["chunk"]
    assert go("seed=0,1,2,3").dataset.attrs["chunk"] == 5
    assert go("seed=0,1,2,3,4", chunk="auto").dataset.attrs["chunk"] == 5
    assert go("seed=0,1,2,3,4").computed == 0


def test_an_interrupted_growth_goes_on(go):
    before = go()

    def stop(state):
        if state.done > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go("seed=0,1,2,3,4,5", progress=stop)
    seen = []
    after = go("seed=0,1,2,3,4,5", progress=lambda state: seen.append(state.resumed))
    assert seen[0] == 18 + 8
    same_bits(before.dataset, after.dataset)
    assert (after.dataset.status == 1).all()


@pytest.mark.slow
def test_a_linked_store_grows_and_is_replaced_where_it_lies(go, tmp_path):
    before = go()
    link, home = tmp_path / "out" / "raw" / "toy.zarr", tmp_path / "disk" / "mine.zarr"
    home.parent.mkdir()
    link.rename(home)
    link.symlink_to(home)
    after = go("seed=0,1,2,7")
    assert after.computed == after.dataset.status.size - 18
    same_bits(before.dataset, after.dataset)
    assert go("seed=0,1,2,7").computed == 0
    assert go(fresh=True).dataset.identical(before.dataset)
    assert link.readlink() == home and os.listdir(home.parent) == ["mine.zarr"]
    assert sorted(file.name for file in link.parent.iterdir()) == ["toy.nc", "toy.provenance.json", "toy.zarr"]


def test_a_kill_between_the_two_renames_loses_nothing(go, tmp_path, monkeypatch):
    before = go()
    rename, calls = os.rename, []

    class Killed(BaseException):
        pass

    def kill(*names):
        calls.append(names)
        if len(calls) == 2:
            raise Killed
        rename(*names)

    with monkeypatch.context() as patched:
        patched.setattr(stores.os, "rename", kill)
        with pytest.raises(Killed):
            go("seed=0,1,2,3")
    assert not (tmp_path / "out" / "raw" / "toy.zarr").exists()
    after = go("seed=0,1,2,3")
    assert after.computed == 6
    same_bits(before.dataset, after.dataset)
    assert sorted(path.name for path in (tmp_path / "out" / "raw").iterdir()) == [
        "toy.nc", "toy.provenance.json", "toy.zarr",
    ]  # fmt: skip


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 7, 50])
def test_every_cell_is_planned_once_however_a_sweep_has_grown(base, measurements, chunk):
    def spec(**axes):
        return load_spec({**base, "chunk": chunk, "axes": {**base["axes"], **axes}}, measurements=measurements)

    one, two = spec(), spec(seed=[0, 1, 2, 4], width=[2, 3])
    three = spec(seed=[9, 4, 2, 1, 0], width=[1, 2, 3], parameterization=["best", "softplus", "exp"])
    plan = grown(three, [grown(two, [Plan(one)])])
    rows = plan.rows[plan.rows >= 0]
    assert sorted(rows.tolist()) == list(range(plan.cells)) and len(plan.earlier) == 2
    assert sum(plan.valid(number) for number in range(plan.items)) == plan.cells
    first = [plan.item(number) for number in range(Plan(one).items)]
    for mine, old in zip(first, map(Plan(one).item, range(Plan(one).items)), strict=True):
        assert mine.traced["learning_rate"].tolist() == old.traced["learning_rate"].tolist()
        assert mine.traced["seed"].tolist() == old.traced["seed"].tolist()
    for number in range(plan.items):
        item = plan.item(number)
        assert (item.seeds[item.index] == item.traced["seed"]).all() and item.seeds.shape == (plan.starts,)


def test_what_is_no_part(base, measurements):
    one = load_spec(base, measurements=measurements)
    assert places_in(load_spec(base, overrides=["steps=3"], measurements=measurements), one) is None
    assert (
        places_in(load_spec(base, overrides=["parameterization=exp(label=x)"], measurements=measurements), one) is None
    )
    assert places_in(load_spec(base, overrides=["seed=2"], measurements=measurements), one)["seed"] == [2]


@pytest.mark.parametrize("earlier", [[{"seed": [0]}], [{}], [{"parameterization": [0], "width": [0], "seed": [7],
                                     "learning_rate": [0]}], 3, [{"seed": ["x"]}]])  # fmt: skip
def test_a_header_with_an_impossible_past_is_damaged(go, tmp_path, earlier):
    import json

    go()
    header = tmp_path / "out" / "raw" / "toy.zarr" / "sweep.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "earlier": earlier}))
    (tmp_path / "out" / "raw" / "toy.nc").unlink()
    with pytest.raises(StoreError, match=r"toy\.zarr' is damaged"):
        go()


@pytest.mark.parametrize("before", ["nothing", "a shorter sweep", "half of the same"])
def test_a_run_that_another_one_overtakes_says_so_and_touches_nothing(go, tmp_path, monkeypatch, before):
    """Between looking and creating lies the building of programs: there the other one begins, and ends."""
    from stablessm.sweeps import compute

    def stop(state):
        if state.done > 4:
            raise KeyboardInterrupt

    if before == "half of the same":
        with pytest.raises(KeyboardInterrupt):
            go(progress=stop)
    elif before == "a shorter sweep":
        go()
    layout, others = compute._layout, []

    def overtaken(*arguments, **named):
        if not others:
            others.append(None)
            others.append(go("seed=0,1,2,9"))
        return layout(*arguments, **named)

    monkeypatch.setattr(compute, "_layout", overtaken)
    mine = [] if before == "half of the same" else ["seed=0,1,2,7,8"]
    with pytest.raises(StoreError, match=r"another run has written '.*toy\.zarr' in the meantime; run this one again"):
        go(*mine)
    raw = tmp_path / "out" / "raw"
    assert go("seed=0,1,2,9").computed == 0 and (raw / "toy.nc").read_bytes() == others[1].path.read_bytes()
    assert sorted(path.name for path in raw.iterdir()) == ["toy.nc", "toy.provenance.json", "toy.zarr"]
