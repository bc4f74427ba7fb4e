"""What disks and their users do to a store: fill up, cut short, flip, lose and add files; and threads that write it."""

import errno
import io
import os
import shutil
import subprocess
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stablessm.datasets import DatasetError, DatasetWriteError
from stablessm.sweeps import stores
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import StoreError, WriteError
from stablessm.sweeps.layout import DONE, Layout
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.resume import variables
from stablessm.sweeps.run import execute


@pytest.fixture
def go(base, tmp_path, measurements, finished):
    def call(folder="out", **rest):
        if not (rest or (tmp_path / folder).exists()):
            return finished(tmp_path / folder)
        return execute(base, out=tmp_path / folder, measurements=measurements, **rest)

    return call


def test_four_threads_lose_no_row(base, measurements, tmp_path, request):
    base["axes"]["seed"] = {"range": 20}
    plan = Plan(load_spec(base, chunk=3, measurements=measurements))
    layout = Layout(variables(plan.spec, measurements), {"step": np.arange(3), "state": np.arange(2)})
    for run in range(10 if request.config.getoption("--full") else 3):
        store = stores.create(tmp_path / f"{run}.zarr", plan, layout)

        def write(first, store=store):
            for item in range(first, plan.items, 4):
                values = {name: layout.blank(name, 3) for name in layout.variables}
                values["final_loss"][:] = item
                store.write(item, values)

        threads = [threading.Thread(target=write, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        again = stores.open_store(tmp_path / f"{run}.zarr", plan.spec, layout.variables)
        assert (again.status() == DONE).all()
        assert again.read("final_loss").tolist() == np.repeat(np.arange(plan.items), 3).tolist()


@pytest.mark.matrix(2)
@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "status cut", "status gone"])
def test_what_a_power_cut_leaves_is_computed_again_to_the_same_bytes(go, tmp_path, damage):
    whole = go().path.read_bytes()
    raw = tmp_path / "out" / "raw"
    (raw / "toy.nc").unlink()
    chunk = raw / "toy.zarr" / ("status/c/2" if damage.startswith("status") else "loss/c/2/0")
    if damage.endswith("gone"):
        chunk.unlink()
    else:
        os.truncate(chunk, 0 if damage == "empty" else chunk.stat().st_size - 1)
    seen = []
    again = go(progress=lambda state: seen.append(state.resumed))
    assert again.path.read_bytes() == whole and seen[0] == 17  # of 18 cells, the item that was hit holds one


def test_a_damaged_chunk_is_named_and_can_be_deleted(go, tmp_path):
    whole = go().path.read_bytes()
    raw = tmp_path / "out" / "raw"
    (raw / "toy.nc").unlink()
    chunk = raw / "toy.zarr" / "loss/c/2/0"
    content = bytearray(chunk.read_bytes())
    content[3] ^= 1
    chunk.write_bytes(content)
    with pytest.raises(
        StoreError, match=r"damaged \(the file loss/c/2/0: .*without that file the work item is computed"
    ):
        go()
    chunk.unlink()
    assert go().path.read_bytes() == whole


@pytest.mark.matrix(2)
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_what_a_store_lost_beside_a_whole_dataset_is_noticed(go, call, registered, tmp_path, damage):
    whole = go().path.read_bytes()
    raw = tmp_path / "out" / "raw"
    chunk = raw / "toy.zarr" / "loss/c/2/0"
    if damage == "gone":
        chunk.unlink()
    else:
        os.truncate(chunk, 5)
    code, shown, _ = call("show", raw / "toy.nc")
    assert code == 0 and "'toy.zarr' has lost results of 1 of 6 work items (loss/c/2/0); stablessm run" in shown
    again = go()
    assert (again.computed, again.path.read_bytes()) == (1, whole)
    assert "note:" not in call("show", raw / "toy.nc")[1] and go().computed == 0
    shutil.rmtree(raw / "toy.zarr" / "loss")
    assert "the dataset is whole, but" in call("show", raw / "toy.nc")[1]
    with pytest.raises(StoreError, match=r"toy.zarr' is damaged \(the array loss is missing\)"):
        go()


UNREADABLE = ["toy.nc", "toy.zarr/sweep.json", "toy.zarr/loss/zarr.json", "toy.zarr/loss/c/2/0", "toy.zarr/status/c/0"]


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_may_not_be_read_is_not_called_damaged(go, call, registered, tmp_path, monkeypatch, name):
    """For root there is no such file, so the system's answer is put in the place of every way to open one."""
    go()
    raw = tmp_path / "out" / "raw"
    if name != "toy.nc":
        (raw / "toy.nc").unlink()
    opened = io.open

    def refuse(file, *rest, **named):
        if str(file) == str(raw / name):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return opened(file, *rest, **named)

    monkeypatch.setattr(io, "open", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    source = raw / ("toy.nc" if name == "toy.nc" else "toy.zarr")
    for words in (("run", source, "--out", tmp_path / "out"), ("merge", source, source, "--out", tmp_path / "both")):
        code, _, said = call(*words)
        assert code == 2 and "cannot be read" in said and "permission denied" in said.lower() and "damage" not in said
        assert str(raw / name) in said and len(said.splitlines()) == 1
    assert not (tmp_path / "both").exists()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 200 kB; says so where there is none."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder], capture_output=True)
    if done.returncode:
        warnings.warn("NO SMALL DISK CAN BE MADE (this needs root): how a full disk is met is not tested", stacklevel=1)
        yield None
        return
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.filterwarnings("default:NO SMALL DISK")
def test_a_full_disk_keeps_what_is_done(base, measurements, tmp_path, small_disk):
    if small_disk is None:
        return
    base["axes"]["seed"] = {"range": 12}
    whole = execute(base, out=tmp_path / "whole", measurements=measurements).path.read_bytes()
    filler = small_disk / "filler"
    filler.write_bytes(bytes(20_000))
    with pytest.raises((WriteError, DatasetWriteError), match="No space left on device"):
        execute(base, out=small_disk / "out", measurements=measurements)
    raw = small_disk / "out" / "raw"
    assert not (raw / "toy.nc").exists()
    seen = []
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    again = execute(
        base, out=small_disk / "out", measurements=measurements, progress=lambda state: seen.append(state.resumed)
    )
    assert again.path.read_bytes() == whole and 0 < seen[0] < 72


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_done_to_its_files_a_store_ends_in_a_sentence_or_in_its_dataset(finished, data):
    """Flipped bytes, cut and lost files, foreign ones: nothing but a sentence, and what is foreign stays there."""
    import tempfile

    from toy_measurement import BASE, MEASUREMENTS

    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw"
        raw = finished(raw.parent).path.parent
        if data.draw(st.booleans(), "without the dataset"):
            (raw / "toy.nc").unlink()
        files = sorted(path for path in raw.rglob("*") if path.is_file() and path.name != "toy.provenance.json")
        for _ in range(data.draw(st.integers(1, 3), "how many")):
            file = data.draw(st.sampled_from(files), "file")
            if not file.is_file():
                continue
            content = bytearray(file.read_bytes())
            how = data.draw(st.sampled_from(["flip", "cut", "lose", "text", "folder", "more"]), "how")
            if how == "flip" and content:
                content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
            elif how == "cut":
                del content[data.draw(st.integers(0, len(content))) :]
            elif how == "text":
                content = bytearray(
                    data.draw(st.sampled_from([b"", b"{}", b"[]", b"null", b"\xff", b"3", b'{"a": 1}']))
                )
            elif how == "more":
                content += b"x"
            file.unlink()
            if how == "folder":
                file.mkdir()
            elif how != "lose":
                file.write_bytes(content)
        (raw / "mine.txt").write_text("precious")
        try:
            execute(BASE, out=folder, measurements=MEASUREMENTS)
        except (StoreError, DatasetError, WriteError) as error:
            assert len(str(error).splitlines()) == 1 and str(error).endswith(".")
        assert (raw / "mine.txt").read_text() == "precious"
