"""The command line: light start, one-line errors, and the main job from run to figure."""

import gc
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stablessm.__main__ import main as program
from stablessm.cli.interruption import heard

FORMULA = "1/(w^2 + 0.7)"


def test_an_interruption_while_the_program_is_imported_is_said(monkeypatch, capsys):
    class Importing:
        @property
        def main(self):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "stablessm.cli", Importing())
    with pytest.raises(SystemExit) as ending:
        program()
    assert ending.value.code == 130 and capsys.readouterr().err == "Error: interrupted.\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["list", "parameterizations"], ["run", "--help"], ["train", "--help"], ["data"]]
)
def test_start_up_imports_no_array_library(arguments):
    code = (
        "import sys\nfrom stablessm.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print([m for m in ('jax', 'sympy', 'numpy', 'matplotlib', 'xarray') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["run", "lr_stabilty"], "lr_stability"),
        (["run", "lr_stability", "--set", "parameterization=exq"], "exp"),
        (["run", "lr_stability", "--set", "learning_rate=nan"], "learning rate"),
        (["run", "lr_stability", "--set", "learning_rate=-1"], "learning rate"),
        (["run", "lr_stability", "--set", "width=0"], "width"),
        (["run", "lr_stability", "--set", "parameterization=1/(w^2+c)"], "value for c"),
        (["run", "lr_stability", "--device", "tpu"], "device"),
        (["verify", "bset"], "best"),
        (["verify", "--formula", "system(w)"], "not one of the functions"),
        (["verify", "--formula", "w +"], "cannot be read"),
        (["verify", "best", "--constant", "b=nan"], "finite"),
        (["list", "map"], "KIND"),
        (["bench", "swep"], "sweep"),
        (["analyse", "digits"], "stablessm run digits"),
        (["draw", "maps"], "stablessm run maps"),
        (["show", "nothing.nc"], "nothing.nc"),
        (["reproduce", "maps", "--all"], "--all"),
        (["rn"], "rn"),
        (["run", "maps", "--bogus"], "--bogus"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(call, tmp_path, monkeypatch, arguments, fragment):
    monkeypatch.chdir(tmp_path)
    code, _, error = call(*arguments)
    assert code == 2, error
    assert error.startswith("Error: ") and error.count("\n") == 1 and fragment in error
    assert not list(tmp_path.iterdir())


def test_verify_decides_discrete_best(call):
    code, out, _ = call("verify", "best", "--link", "one-minus", "--constant", "b=0.5", "--json")
    (entry,) = json.loads(out)["maps"]
    stability = next(one for one in entry["statements"] if one["id"] == "stability")
    assert code == 0 and stability["verdict"] == "refuted"
    assert stability["counterexample"]["weight"] == 0 and stability["counterexample"]["eigenvalue"] == -1


def test_from_run_to_figure_and_again_to_the_same_bytes(call, tmp_path):
    more = ["--set", "steps=40", "--set", "width=8", "--set", "seed=0,1", "--set", "learning_rate=0.001,0.1,10",
            "--set", "optimizer=adam", "--set", f"parameterization=direct,{FORMULA}"]  # fmt: skip
    for folder in ("one", "two"):
        where = ["--out", tmp_path / folder]
        code, _, error = call("run", "lr_stability", *more, *where)
        assert code == 0, error
        for command in ("analyse", "draw"):
            code, _, error = call(command, "lr_stability", *where)
            assert code == 0, error
    again = call("run", "lr_stability", *more, *where)
    assert "nothing to run" in again[1]

    def prints(folder):
        files = [p for p in (tmp_path / folder).rglob("*") if p.suffix in (".nc", ".pdf", ".svg", ".png")]
        assert len(files) == 5
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}

    assert prints("one") == prints("two")
    raw = tmp_path / "one" / "raw" / "lr_stability.nc"
    assert "outcome" in call("show", raw)[1]
    table, page = tmp_path / "t.csv", tmp_path / "t.tex"
    assert call("show", raw, "--csv", table, "--latex", page)[0] == 0
    assert len(table.read_text().splitlines()) == 1 + 2 * 3 * 2
    assert "\\toprule" in page.read_text() and "\\textasciicircum{}" in page.read_text()


def test_a_damaged_dataset_is_named_and_kept(call, tmp_path):
    raw = tmp_path / "raw" / "maps.nc"
    raw.parent.mkdir()
    raw.write_bytes(b"not netCDF")
    for arguments in (["run", "maps"], ["draw", "maps"]):
        code, _, error = call(*arguments, "--out", tmp_path)
        assert code == 2 and "maps.nc" in error
    assert raw.read_bytes() == b"not netCDF"


def test_every_bundled_declaration_is_valid():
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.places import names

    for name in names("experiments"):
        for scale in ("quick", "full"):
            spec = load_spec(name, scale=scale)
            assert set(spec.figures) <= set(names("figures")) and set(spec.analyses) <= set(names("analysis"))
    assert Path(__file__).is_file()


def test_an_interruption_that_python_drops_is_sent_again():
    """As in JAX's callback of the garbage collector, whose exceptions go nowhere."""
    dropped = []

    def once(phase, info):
        if not dropped:
            dropped.append(phase)
            raise KeyboardInterrupt

    before = sys.unraisablehook
    gc.callbacks.append(once)
    try:
        with pytest.raises(KeyboardInterrupt), heard():
            gc.collect()
            time.sleep(10)
            pytest.fail("nothing was sent again")
    finally:
        gc.callbacks.remove(once)
    assert dropped and sys.unraisablehook is before
