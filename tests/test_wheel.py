"""The wheel: built, installed into an environment of its own, and used outside of the checkout."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from stablessm.sweeps.places import KINDS

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


class Installed(NamedTuple):
    """The wheel, and where it is installed."""

    wheel: Path
    environment: Path

    def run(self, *words, cwd):
        """Run a program of the environment in a folder; the checkout is on no path."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "STABLESSM"))}
        command = [str(self.environment / SCRIPTS / words[0]), *words[1:]]
        return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True)


def pip(*words):
    done = subprocess.run([sys.executable, "-m", "pip", *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build with what the test environment has, and lend the new environment its other packages: no network.

    A path that a .pth file adds is no site folder, so the .pth of an editable install in it is not read.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("stablessm-*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    python = environment / SCRIPTS / "python"
    pip("--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    paths = sysconfig.get_paths("venv", {"base": str(environment), "platbase": str(environment)})
    lent = dict.fromkeys(sysconfig.get_paths()[key] for key in ("purelib", "platlib"))
    (Path(paths["purelib"]) / "lent.pth").write_text("\n".join(lent) + "\n")
    return Installed(wheel, environment)


def test_it_holds_the_package_alone_and_the_sources_of_every_bundled_thing(installed):
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"stablessm"}
    bundled = {name for name in names if name.startswith("stablessm/_bundled/")}
    assert bundled == {
        f"stablessm/_bundled/{path.relative_to(ROOT).as_posix()}"
        for kind, suffix in KINDS.items()
        for path in (ROOT / kind).rglob(f"*{suffix}")
    }
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "stablessm").rglob("*.*") if path.suffix != ".pyc"}
    assert "stablessm/targets/sunspots.csv" in package
    assert package <= set(names)


def test_it_is_what_runs_and_it_lists_what_is_bundled(installed, tmp_path):
    where = installed.run("python", "-c", "import stablessm; print(stablessm.__file__)", cwd=tmp_path)
    assert where.returncode == 0, where.stderr
    assert Path(where.stdout.strip()).is_relative_to(installed.environment)
    for kind, folder in (("experiments", "experiments"), ("analyses", "analysis"), ("figures", "figures")):
        listed = installed.run("stablessm", "list", kind, cwd=tmp_path)
        assert listed.returncode == 0, listed.stderr
        names = {line.split()[0] for line in listed.stdout.splitlines()[2:]}
        assert names == {path.stem for path in (ROOT / folder).glob(f"*{KINDS[folder]}") if path.stem[0] != "_"}


def test_reproduce_writes_into_results_of_the_current_folder_and_a_second_one_runs_nothing(installed, tmp_path):
    first = installed.run("stablessm", "reproduce", "gradient_scale", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    pictures = {f"results/figures/gradient_scale.{kind}" for kind in ("pdf", "svg", "png")}
    raw = {f"results/raw/{name}" for name in ("gradient_scale.nc", "gradient_scale.provenance.json", ".made.json")}
    assert {name for name in written if ".zarr/" not in name} == pictures | raw
    assert all(name.startswith("results/") for name in written)
    before = (tmp_path / "results/raw/gradient_scale.nc").read_bytes()
    second = installed.run("stablessm", "reproduce", "gradient_scale", cwd=tmp_path)
    assert second.returncode == 0, second.stderr
    assert "nothing to do" in second.stdout
    assert (tmp_path / "results/raw/gradient_scale.nc").read_bytes() == before
