"""A package outside of the tree that brings a map: built, installed and used; and packages that are broken."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from stablessm import PARAMETERIZATIONS, Parameterization, ParameterizationError
from stablessm.parameterizations import plugins

PLUGIN = Path(__file__).resolve().parent.parent / "examples" / "plugin"


def test_an_installed_package_brings_a_map_to_every_command(tmp_path):
    where = tmp_path / "packages"
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", where]
    subprocess.run([sys.executable, "-m", "pip", "install", *map(str, options), str(PLUGIN)], check=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(where), str(PLUGIN.parent.parent)])}

    def stablessm(*words):
        command = [sys.executable, "-c", "from stablessm.cli import main; main()", *words]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    told = stablessm("verify", "sech").stdout
    assert "stability" in told and "proved" in told
    run = stablessm("run", "gradient_scale", "--set", "parameterization=best,sech", "--out", "mine")
    assert run.returncode == 0 and (tmp_path / "mine" / "raw" / "gradient_scale.nc").is_file(), run.stderr
    assert not (PLUGIN / "build").exists()


def catalogue(monkeypatch, name, value):
    points = [EntryPoint(name, f"{__name__}:{value}", plugins.GROUP)]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    return plugins.Catalogue(PARAMETERIZATIONS.built_in)


GOOD = Parameterization.from_formula("1/(1 + w^2)", name="good")
FREE = Parameterization.from_formula("1/(c + w^2)", name="free")
NOTHING = "nothing"


def test_its_maps_stand_behind_those_that_are_built_in(monkeypatch):
    found = catalogue(monkeypatch, "good", "GOOD")
    assert list(found) == [*PARAMETERIZATIONS.built_in, "good"] and len(found) == len(PARAMETERIZATIONS.built_in) + 1
    assert found["good"] == GOOD and "good" in found and "bad" not in found and found["exp"].name == "exp"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("exp", "GOOD", "has the name of a built-in map"),
        ("better", "GOOD", "must have that name, but is called 'good'"),
        ("free", "FREE", "needs a value for c"),
        ("nothing", "NOTHING", "must be a Parameterization, but .*NOTHING is a str"),
        ("gone", "GONE", "cannot be loaded: AttributeError"),
    ],
)
def test_a_broken_package_is_a_sentence(monkeypatch, name, value, words):
    found = catalogue(monkeypatch, name, value)
    assert found["exp"].name == "exp"  # what is built in needs no other package
    with pytest.raises(ParameterizationError, match=words):
        list(found)
