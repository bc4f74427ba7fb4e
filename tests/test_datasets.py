import json
import resource
import subprocess
import sys

import h5py
import numpy as np
import pytest
import xarray as xr

from stablessm import datasets
from stablessm.datasets import DatasetError, DatasetWriteError, load, save, save_provenance
from stablessm.writing import at_work


@pytest.fixture
def dataset():
    data = {
        "loss": (("map", "step"), np.array([[1.0, np.nan, 3], [4, 5, np.inf]], np.float32)),
        "pole": ("map", np.array([1 + 2j, complex(np.nan, 0)], np.complex64)),
        "start_hash": ("map", np.array([1, 2**64 - 1], np.uint64)),
        "stable": ("map", np.array([True, False])),
        "outcome": ("map", np.array([0, -1], np.int8)),
        "total": ((), 1.5),
    }
    coordinates = {"map": ["exp", "béta"], "step": [0.1, 0.2, 0.30000000000000004], "link": ("map", ["x", "longer"])}
    made = xr.Dataset(data, coords=coordinates)
    for variable in made.variables.values():
        variable.attrs.update(units="days", long_name="something")
    made.outcome.attrs.update(flag_values=np.array([-1, 0], np.int8), flag_meanings="missing fine")
    made.attrs = {
        "none": None, "true": True, "table": {"a": [1, None, {"b": 0.1}]}, "list": ["a", 1], "big": 2**70, "float": 0.1,
        "integer": 3, "empty": "", "prefixed": "json:1", "array": np.array([1.5, 2.5]), "one": np.array([7]),
    }  # fmt: skip
    return made


def test_what_is_loaded_is_identical_to_what_was_saved(dataset, tmp_path):
    save(dataset, tmp_path / "new" / "a.nc")
    loaded = load(tmp_path / "new" / "a.nc")
    xr.testing.assert_identical(loaded, dataset)
    for name in dataset.variables:
        assert loaded[name].dtype == dataset[name].dtype
    assert loaded.attrs["true"] is True and loaded.attrs["none"] is None and type(loaded.attrs["integer"]) is int


def test_the_same_dataset_gives_the_same_bytes(dataset, tmp_path):
    save(dataset, tmp_path / "a.nc")
    save(load(tmp_path / "a.nc"), tmp_path / "b.nc")
    script = "import sys; from stablessm.datasets import load, save; save(load(sys.argv[1]), sys.argv[2])"
    subprocess.run([sys.executable, "-c", script, tmp_path / "a.nc", tmp_path / "c.nc"], check=True)
    first = (tmp_path / "a.nc").read_bytes()
    assert (tmp_path / "b.nc").read_bytes() == first and (tmp_path / "c.nc").read_bytes() == first


def test_saving_changes_nothing_in_memory(dataset, tmp_path):
    before = dataset.copy(deep=True)
    save(dataset, tmp_path / "a.nc")
    xr.testing.assert_identical(before, dataset)


@pytest.mark.parametrize("attribute", ["units", "long_name"])
@pytest.mark.parametrize("name", ["loss", "map"])
def test_every_variable_says_what_it_is(dataset, tmp_path, name, attribute):
    del dataset[name].attrs[attribute]
    with pytest.raises(DatasetError, match=f"the variable '{name}' needs the attribute '{attribute}'"):
        save(dataset, tmp_path / "a.nc")
    assert list(tmp_path.iterdir()) == []


def test_outcome_codes_have_meanings(dataset, tmp_path):
    dataset.outcome.attrs["flag_meanings"] = "one two three"
    with pytest.raises(DatasetError, match="one word in 'flag_meanings'"):
        save(dataset, tmp_path / "a.nc")
    del dataset.outcome.attrs["flag_meanings"]
    with pytest.raises(DatasetError, match="needs both 'flag_values' and 'flag_meanings'"):
        save(dataset, tmp_path / "a.nc")
    del dataset.outcome.attrs["flag_values"]
    with pytest.raises(DatasetError, match="'outcome' needs both"):
        save(dataset, tmp_path / "a.nc")
    dataset.outcome.attrs.update(flag_values=np.array([0, 1], np.int8), flag_meanings="fine bad")
    with pytest.raises(DatasetError, match="'outcome' holds -1, which is not among"):
        save(dataset, tmp_path / "a.nc")


def test_attributes_that_cannot_be_stored_are_refused(dataset, tmp_path):
    dataset.attrs["complex"] = 1j
    with pytest.raises(DatasetError, match="1j cannot be stored"):
        save(dataset, tmp_path / "a.nc")


def test_missing_damaged_and_foreign_files_are_named(dataset, tmp_path):
    with pytest.raises(DatasetError, match=r"there is no dataset '.*gone\.nc'\."):
        load(tmp_path / "gone.nc")
    with pytest.raises(DatasetError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "text.nc").write_text("not netCDF")
    with pytest.raises(DatasetError, match=r"text\.nc' is damaged, or no netCDF file"):
        load(tmp_path / "text.nc")
    xr.Dataset({"x": 1.0}).to_netcdf(tmp_path / "foreign.nc", engine="h5netcdf")
    with pytest.raises(DatasetError, match=r"foreign\.nc' is no dataset of stablessm"):
        load(tmp_path / "foreign.nc")
    save(dataset, tmp_path / "a.nc")
    content = (tmp_path / "a.nc").read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 100):
        (tmp_path / "cut.nc").write_bytes(content[:length])
        with pytest.raises(DatasetError, match=r"cut\.nc' is damaged"):
            load(tmp_path / "cut.nc")


def test_flipped_bytes_in_numbers_are_caught(dataset, tmp_path):
    dataset["many"] = ("many", np.random.default_rng(0).random(4000), {"units": "1", "long_name": "many"})
    save(dataset, tmp_path / "a.nc")
    content = bytearray((tmp_path / "a.nc").read_bytes())
    with h5py.File(tmp_path / "a.nc") as file:
        chunks = [
            file[name].id.get_chunk_info(place)
            for name in ("many", "loss", "pole", "start_hash", "outcome")
            for place in range(file[name].id.get_num_chunks())
        ]
    assert len(chunks) >= 5
    for chunk in chunks:
        flipped = bytearray(content)
        flipped[chunk.byte_offset + chunk.size // 2] ^= 0xFF
        (tmp_path / "b.nc").write_bytes(flipped)
        with pytest.raises(DatasetError, match="damaged"):
            load(tmp_path / "b.nc")


def test_foreign_and_damaged_files_are_never_overwritten(dataset, tmp_path):
    (tmp_path / "a.nc").write_text("precious")
    with pytest.raises(DatasetError, match=r"a\.nc' is damaged, or no netCDF file; it is not overwritten"):
        save(dataset, tmp_path / "a.nc")
    assert (tmp_path / "a.nc").read_text() == "precious"
    (tmp_path / "b.nc").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DatasetError, match="not overwritten"):
        save(dataset, tmp_path / "b.nc")


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_refusing_disk_leaves_the_old_file(dataset, tmp_path, monkeypatch, broken):
    save(dataset, tmp_path / "a.nc")
    old = (tmp_path / "a.nc").read_bytes()

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(datasets.os, broken, refuse)
    with pytest.raises(DatasetWriteError, match=r"a\.nc' cannot be written: No space left on device"):
        save(dataset.isel(map=[0]), tmp_path / "a.nc")
    assert (tmp_path / "a.nc").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


@pytest.fixture
def little_room():
    """No file may grow beyond 64 KiB: the system refuses in the middle of a write, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_breaks_off_leaves_the_old_file(dataset, tmp_path, little_room):
    save(dataset, tmp_path / "a.nc")
    noise = np.random.default_rng(0).random(20000)
    large = dataset.assign(noise=("noise", noise, {"units": "1", "long_name": "noise"}))
    with pytest.raises(DatasetWriteError, match="File too large"):
        save(large, tmp_path / "a.nc")
    xr.testing.assert_identical(load(tmp_path / "a.nc"), dataset)
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_leftovers_of_a_kill_are_swept(dataset, tmp_path):
    (tmp_path / ".a.nc.123.partial").write_text("half")
    save(dataset, tmp_path / "a.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_provenance_lies_beside_the_dataset(tmp_path):
    path = save_provenance(tmp_path / "name.nc", {"seconds": 1.5, "commit": None})
    assert path.name == "name.provenance.json" and json.loads(path.read_text()) == {"seconds": 1.5, "commit": None}


def test_datasets_reach_neither_jax_nor_sympy():
    script = "import sys, stablessm.datasets; assert not {'jax', 'sympy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_leftover_folder_does_not_stand_in_the_way(tmp_path):
    (tmp_path / ".a[1].nc.7.partial").mkdir()
    save(xr.Dataset(attrs={"a": "b"}), tmp_path / "a[1].nc")
    assert [path.name for path in tmp_path.iterdir()] == ["a[1].nc"]


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [({"a": "json:{"}, "an attribute of it is no JSON"), ({}, "breaks a rule: the variable 'x' needs the attribute")],
)
def test_a_marked_file_that_breaks_the_rules_is_named(tmp_path, attributes, reason):
    from stablessm.datasets import FORMAT, MARK

    data = xr.Dataset({"x": ("n", np.zeros(2))}) if not attributes else xr.Dataset()
    data.assign_attrs(**attributes, **{MARK: np.int64(FORMAT)}).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with pytest.raises(DatasetError, match=f"a.nc' .*{reason}"):
        load(tmp_path / "a.nc")


def test_a_path_that_cannot_be_is_named(tmp_path):
    with pytest.raises(DatasetWriteError, match=r"a\\x00b.nc' cannot be written: embedded null byte"):
        save(xr.Dataset(attrs={"a": "b"}), tmp_path / "a\x00b.nc")
    with pytest.raises(DatasetError, match=r"a\\x00b.nc' cannot be read: embedded null byte"):
        load(tmp_path / "a\x00b.nc")


def test_what_another_run_is_writing_is_left_to_it(dataset, tmp_path):
    half = tmp_path / ".a.nc.1.partial"
    half.write_text("half")
    with at_work(half):
        save(dataset, tmp_path / "a.nc")
        assert half.exists()
    save(dataset, tmp_path / "a.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]
