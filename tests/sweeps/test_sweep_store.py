import numpy as np
import pytest

from stablessm.measurements.base import Variable
from stablessm.sweeps import stores
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import StoreError
from stablessm.sweeps.layout import DONE, FAILED, PENDING, Layout
from stablessm.sweeps.plan import Plan

VARIABLES = {
    "loss": Variable("loss", dims=("step",)),
    "pole": Variable("pole", dtype="complex64"),
    "outcome": Variable("outcome", dtype="int8", flags=("fine",)),
}


@pytest.fixture
def plan(base, measurements):
    return Plan(load_spec(base, measurements=measurements))


@pytest.fixture
def store(plan, tmp_path):
    return stores.create(tmp_path / "a.zarr", plan, Layout(VARIABLES, {"step": np.array([1, 2, 5])}))


def values(number):
    return {
        "loss": np.full((4, 3), number, np.float32),
        "pole": np.full(4, 1j * number, np.complex64),
        "outcome": np.zeros(4, np.int8),
    }


def test_what_is_written_is_read_and_the_rest_is_blank(store, plan, tmp_path):
    store.write(1, values(7))
    store.fail(2, "reason")
    again = stores.open_store(tmp_path / "a.zarr", plan.spec, VARIABLES)
    assert again.status().tolist() == [PENDING, DONE, FAILED, PENDING, PENDING, PENDING]
    assert again.failures() == {2: "reason"} and again.layout.coordinates["step"].tolist() == [1, 2, 5]
    loss, pole = again.read("loss"), again.read("pole")
    assert loss.shape == (24, 3) and (loss[4:8] == 7).all() and np.isnan(loss[:4]).all() and np.isnan(loss[8:]).all()
    assert np.isnan(pole[0].real) and np.isnan(pole[0].imag) and pole[4] == 7j
    again.write(2, values(1))
    assert again.failures() == {} and again.status()[2] == DONE


def test_one_chunk_a_work_item_with_a_checksum(store, tmp_path):
    import json

    for name in (*VARIABLES, "status"):
        about = json.loads((tmp_path / "a.zarr" / name / "zarr.json").read_text())
        assert about["chunk_grid"]["configuration"]["chunk_shape"][0] == 4
        assert about["codecs"][-1]["name"] == "crc32c"
    store.write(3, values(1))
    written = {path.relative_to(tmp_path / "a.zarr").as_posix() for path in (tmp_path / "a.zarr").rglob("c/**/*")}
    assert {"loss/c/3/0", "pole/c/3", "outcome/c/3", "status/c/3"} == {
        one for one in written if one[-2:] in ("/0", "/3")
    } - {"loss/c/3"}


def test_no_work_item_leaves_its_chunk(store):
    wrong = values(1) | {"pole": np.zeros(5, np.complex64)}
    with pytest.raises(StoreError, match=r"the array 'pole' of work item 0 has the shape \(5,\)"):
        store.write(0, wrong)
    assert store.status()[0] == PENDING


def test_status_is_written_last(store, monkeypatch):
    order = []
    for name, array in store._arrays.items():

        class Spy:
            def __init__(self, name, array):
                self.name, self.array, self.metadata, self.ndim = name, array, array.metadata, array.ndim

            def __getitem__(self, where):
                return self.array[where]

            def __setitem__(self, where, what):
                order.append(self.name)
                self.array[where] = what

        store._arrays[name] = Spy(name, array)
    store.write(0, values(1))
    assert order == [*VARIABLES, "status"]


@pytest.mark.parametrize("name", ["a::b", "file:", "simplecache::s3:", "x.zip", "[ab]*?", "#1 %41"])
def test_a_folder_is_a_folder_whatever_its_name(store, plan, tmp_path, name):
    path = tmp_path / name / "a.zarr"
    stores.create(path, plan, store.layout).write(1, values(7))
    assert stores.open_store(path, plan.spec, VARIABLES).status()[1] == DONE and (path / "loss" / "zarr.json").is_file()


@pytest.mark.parametrize("name", ["loss", "status"])
def test_flipped_bytes_are_caught(store, tmp_path, name):
    store.write(0, values(1))
    chunk = next(path for path in (tmp_path / "a.zarr" / name / "c").rglob("*") if path.is_file())
    content = bytearray(chunk.read_bytes())
    content[1] ^= 4
    chunk.write_bytes(content)
    with pytest.raises(StoreError, match=r"a\.zarr' is damaged \(.*checksum.*\); it is not overwritten"):
        store.read(name)


def test_a_lost_chunk_is_caught(store, tmp_path):
    store.write(0, values(1))
    (tmp_path / "a.zarr" / "pole" / "c" / "0").unlink()
    with pytest.raises(StoreError, match=r"is damaged \(the file pole/c/0 is missing\)"):
        store.read("pole")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": 99}'])
def test_a_damaged_header_is_named(store, plan, tmp_path, content):
    (tmp_path / "a.zarr" / "sweep.json").write_text(content)
    with pytest.raises(StoreError, match=r"a\.zarr' is damaged or no store of stablessm; it is not overwritten"):
        stores.open_store(tmp_path / "a.zarr", plan.spec, VARIABLES)
    with pytest.raises(StoreError, match="is damaged or no store"):
        stores.remove(tmp_path / "a.zarr")


def test_a_damaged_array_is_named(store, plan, tmp_path):
    (tmp_path / "a.zarr" / "loss" / "zarr.json").write_text("{")
    with pytest.raises(StoreError, match=r"a\.zarr' is damaged \("):
        stores.open_store(tmp_path / "a.zarr", plan.spec, VARIABLES)


def test_another_sweep_or_other_variables_are_refused(store, plan, base, tmp_path, measurements):
    other = load_spec(base, overrides=["steps=3"], measurements=measurements)
    with pytest.raises(StoreError, match=r"holds a different sweep \(settings.steps: 20 -> 3\): give --fresh"):
        stores.open_store(tmp_path / "a.zarr", other, VARIABLES)
    with pytest.raises(StoreError, match="the program's own maps or variables changed"):
        stores.open_store(tmp_path / "a.zarr", plan.spec, {"loss": VARIABLES["loss"]})


def test_partial_files_are_swept(store, plan, tmp_path):
    (tmp_path / "a.zarr" / "loss" / "x.partial").write_text("half")
    (tmp_path / "b.zarr.1.partial").mkdir()
    stores.create(tmp_path / "b.zarr", plan, store.layout)
    with stores.locked(tmp_path / "a.zarr"):
        pass
    assert not list(tmp_path.rglob("*.partial"))


def test_one_owner_at_a_time(store, tmp_path):
    with stores.locked(tmp_path / "a.zarr"):
        with pytest.raises(StoreError, match="is being written by another run"), stores.locked(tmp_path / "a.zarr"):
            pass
        with pytest.raises(StoreError, match="is being written by another run"):
            stores.remove(tmp_path / "a.zarr")
    stores.remove(tmp_path / "a.zarr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"spec": 3},
        {"digest": 4},
        {"variables": 5},
        {"coordinates": 6},
        {"coordinates": {"step": ["float64", ["a"]]}},
        {"coordinates": {"step": ["no type", [1]]}},
        {"coordinates": {"step": ["int64", [[1]]]}},
        {"coordinates": {"step": [1]}},
        {"coordinates": {}},
        {"digest": "x", "spec": {"axes": {"target": [{"sha256": 5}]}}},
    ],
)
def test_a_header_of_another_kind_is_named(store, plan, tmp_path, change):
    import json

    path = tmp_path / "a.zarr" / "sweep.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(StoreError, match=r"a\.zarr' is damaged"):
        stores.open_store(tmp_path / "a.zarr", plan.spec, VARIABLES)


@pytest.mark.parametrize("name", ["loss", "status"])
@pytest.mark.parametrize("change", [{"shape": [12]}, {"shape": [12, 3]}, {"data_type": "float64"}])
def test_an_array_of_another_size_or_kind_is_named(store, plan, tmp_path, name, change):
    import json

    path = tmp_path / "a.zarr" / name / "zarr.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(StoreError, match=r"a\.zarr' is damaged"):
        stores.open_store(tmp_path / "a.zarr", plan.spec, VARIABLES)


def test_reasons_and_a_status_without_meaning_are_named(store, tmp_path):
    store.fail(2, "reason")
    (tmp_path / "a.zarr" / "failures" / "abc.txt").write_text("what")
    with pytest.raises(StoreError, match=r"a\.zarr' is damaged"):
        store.failures()
    store._arrays["status"][:4] = 9
    with pytest.raises(StoreError, match="a status in it has no meaning"):
        store.status()


def test_leftovers_of_every_kind_are_swept(store, plan, tmp_path):
    (tmp_path / "a.zarr" / "x.partial" / "deep").mkdir(parents=True)
    (tmp_path / "a.zarr" / "y.partial").symlink_to(tmp_path / "nowhere")
    (tmp_path / "b.zarr.1.partial").write_text("a file")
    stores.create(tmp_path / "b.zarr", plan, store.layout)
    with stores.locked(tmp_path / "a.zarr"):
        pass
    (tmp_path / "a.zarr.2.partial").write_text("a file")
    stores.remove(tmp_path / "a.zarr")
    assert [path.name for path in tmp_path.iterdir()] == ["b.zarr"] and not list(tmp_path.rglob("*.partial"))


def test_a_leftover_that_stays_is_named_itself(store, plan, tmp_path, monkeypatch):
    from pathlib import Path

    from stablessm.datasets import DatasetWriteError

    def refuse(*_, **__):
        raise OSError(1, "Operation not permitted")

    (tmp_path / "a.zarr" / "x.partial").write_text("half")
    monkeypatch.setattr(Path, "unlink", refuse)
    with (
        pytest.raises(DatasetWriteError, match=r"x\.partial' was left .* cannot be deleted: Operation not permitted"),
        stores.locked(tmp_path / "a.zarr"),
    ):
        pass
