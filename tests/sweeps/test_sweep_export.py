"""The dataset of a sweep is written a block at a time: the same values whatever the block, in memory that stays."""

import tracemalloc

import h5py
import numpy as np
import pytest

from stablessm import datasets, netcdf
from stablessm.datasets import DatasetError
from stablessm.sweeps import assemble as assembling
from stablessm.sweeps import results, stores
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.layout import Layout
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.resume import variables
from stablessm.sweeps.run import execute


@pytest.fixture
def small_blocks(monkeypatch):
    def call(size):
        for module in (netcdf, results, assembling):
            monkeypatch.setattr(module, "BLOCK", size)

    return call


@pytest.mark.slow
def test_the_size_of_a_block_changes_no_value(base, measurements, tmp_path, small_blocks):
    """Blocks below a cell, of a few cells, across maps; of a sweep that has grown along its last axis."""
    execute(base, out=tmp_path, measurements=measurements)
    longer = ["learning_rate=0.01,0.03,0.1,0.5", "seed=4,0,1,2"]
    whole = execute(base, out=tmp_path, measurements=measurements, overrides=longer)
    store = tmp_path / "raw" / "toy.zarr"
    spec = load_spec(base, overrides=longer, measurements=measurements)
    opened = stores.open_store(store, spec, variables(spec, measurements))
    for size in (12, 300):
        small_blocks(size)
        file = tmp_path / f"{size}.nc"
        assembling.assemble(opened.plan, opened, measurements["toy"]).save(file)
        assert datasets.load(file).identical(whole.dataset), size
        assert dict(datasets.check(file)) == whole.dataset.attrs
        with h5py.File(file) as written:
            chunks = {name: written[name].chunks for name in ("loss", "pole", "status")}
        assert all(np.prod(chunk) * 1 <= max(1, size) for chunk in chunks.values())


def test_blocks_cover_an_array_once_and_in_order():
    for shape in [(), (1,), (7,), (3, 5), (2, 3, 4), (1, 1, 9), (4, 1, 3), (5, 0)]:
        for block in (1, 2, 3, 5, 8, 12, 100):
            count, seen = int(np.prod(shape)), []
            array = np.arange(count).reshape(shape)
            for region in netcdf.regions(shape, netcdf.BLOCK // block):
                values = array[region].ravel()
                assert 0 < values.size <= block and (np.diff(values) == 1).all()
                seen += values.tolist()
            assert seen == list(range(count)), (shape, block)


def written(measurements, base, folder, seeds):
    base["axes"]["seed"] = {"range": seeds}
    spec = load_spec(base, chunk=30, overrides=["points=5000", "steps=5000"], measurements=measurements)
    plan, held = Plan(spec), variables(spec, measurements)
    layout = Layout(held, {"step": np.arange(5000), "state": np.arange(2)})
    store = stores.create(folder / f"{seeds}.zarr", plan, layout)
    for item in range(plan.items):
        values = {name: np.zeros((30, *layout.shape(name)), one.dtype) for name, one in held.items()}
        values["loss"][:] = np.random.default_rng(item).random((30, 5000))
        store.write(item, values)
    return plan, store


def peak(function):
    tracemalloc.start()
    function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_cells(base, measurements, tmp_path):
    few, many = (written(measurements, base, tmp_path, seeds) for seeds in (20, 160))
    file = tmp_path / "a.nc"

    def export(plan, store):
        assembling.assemble(plan, store, measurements["toy"]).save(file)

    export(*few)  # what is imported at the first time is not counted
    file.unlink()
    least = peak(lambda: export(*few))
    file.unlink()
    most = peak(lambda: export(*many))
    more = (many[0].cells - few[0].cells) * 20_000
    assert more > 16e6 and most - least < 0.05 * more and most < 6e6
    assert peak(lambda: datasets.check(file)) < most + 0.05 * more
    loss = datasets.load(file).loss.values.reshape(-1, 5000)
    assert loss[31].tolist() == many[1].read("loss", range(1, 2))[1].tolist()


def test_nothing_is_left_where_a_block_cannot_be_read(base, measurements, tmp_path, small_blocks):
    execute(base, out=tmp_path, measurements=measurements)
    raw = tmp_path / "raw"
    before = (raw / "toy.nc").read_bytes()
    spec = load_spec(base, measurements=measurements)
    store = stores.open_store(raw / "toy.zarr", spec, variables(spec, measurements))
    assembled = assembling.assemble(store.plan, store, measurements["toy"])
    (raw / "toy.zarr" / "pole" / "c" / "5" / "0").unlink()
    with pytest.raises(StoreError, match="the file pole/c/5/0 is missing"):
        assembled.save(raw / "toy.nc")
    assembled.dataset.outcome.attrs["flag_values"] = np.array([5, 6], np.int8)
    with pytest.raises(DatasetError, match="'outcome' holds 0, which is not among"):
        assembled.save(raw / "toy.nc")
    assert (raw / "toy.nc").read_bytes() == before and not list(raw.glob(".*partial"))
