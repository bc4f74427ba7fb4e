import subprocess
import sys
from pathlib import Path

from stablessm.sweeps import places


def test_out_decides(tmp_path):
    folders = places.places(tmp_path)
    assert folders.dataset("toy") == tmp_path / "raw" / "toy.nc"
    assert folders.dataset("toy", "full") == tmp_path / "raw" / "toy-full.nc"
    assert folders.store("toy", "full") == tmp_path / "raw" / "toy-full.zarr"
    assert (folders.analysis, folders.figures) == (tmp_path / "analysis", tmp_path / "figures")


def test_inside_and_outside_a_checkout(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "one.toml").touch()
    (tmp_path / "stablessm").mkdir()
    monkeypatch.setattr(places, "PACKAGE", tmp_path / "stablessm")
    monkeypatch.chdir(tmp_path / "experiments")
    assert places.names("experiments") == ("one",) and places.names("figures") == ()
    assert places.places().raw == tmp_path / "experiments" / "results"
    assert places.places().figures == tmp_path / "figures" / "rendered"
    monkeypatch.chdir("/")
    assert places.places().raw == Path("results/raw")


def test_in_a_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "PACKAGE", tmp_path)
    assert places.checkout() is None and places.bundled("analysis") == tmp_path / "_bundled" / "analysis"


def test_importing_the_places_is_light():
    script = (
        "import sys, stablessm.sweeps.places as p; p.places(); "
        "assert not {'numpy', 'jax', 'sympy', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
