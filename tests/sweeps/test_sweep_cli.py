import pytest
import typer
from typer.testing import CliRunner

from stablessm.cli.run import run
from stablessm.datasets import load
from stablessm.sweeps.errors import SpecError, StoreError

TOML = """
name = "mine"
measurement = "toy"
chunk = 4
[axes]
parameterization = ["exp", "best", "softplus"]
learning_rate = {log = [1e-2, 1, 3]}
[scale.full]
axes.seed = {range = 3}
"""


@pytest.fixture
def command(registered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(TOML)
    app = typer.Typer()
    app.command()(run)

    def call(*arguments):
        return CliRunner().invoke(app, list(arguments))

    return call


def test_run_and_run_again(command, tmp_path):
    first = command("mine.toml")
    assert first.exit_code == 0 and "saved results/raw/mine.nc" in first.stdout
    assert "mine: 9/9 cells" in first.stderr and "converged" in first.stderr
    again = command("mine.toml")
    assert (
        again.exit_code == 0 and "is complete already; nothing to run" in again.stdout and "cells" not in again.stderr
    )
    full = command("mine.toml", "--scale", "full", "--out", "here", "--set", "parameterization=exp,best(b=0.1)")
    assert full.exit_code == 0
    assert load(tmp_path / "here" / "raw" / "mine-full.nc").sizes["seed"] == 3


def test_dry_run_writes_nothing(command, tmp_path):
    done = command("mine.toml", "--dry-run", "--scale", "full", "--set", "steps=7", "--chunk", "2")
    assert done.exit_code == 0, done.output
    for fragment in ("27 cells in 15 work items of 2", "settings.steps: 7", "exp, best, softplus (3)",
                     "measured on the first work item", "up to 9 cells (--chunk)", "nothing was written"):  # fmt: skip
        assert fragment in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    failing = command("mine.toml", "--dry-run", "--set", "mode=trace fails")
    assert failing.exit_code == 0 and "no estimate: the first work item fails with RuntimeError" in failing.stdout


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["nothing"], "unknown experiment 'nothing'"),
        (["mine.toml", "--set", "seed=-1"], "--set seed: the seed must be an integer"),
        (["mine.toml", "--set", "seed"], "expected KEY=VALUE"),
        (["mine.toml", "--scale", "huge"], "--scale: unknown scale 'huge'"),
        (["mine.toml", "--device", "tpuu"], "--device: unknown device 'tpuu'"),
        (["mine.toml", "--chunk", "0"], "--chunk: the chunk must be an integer"),
        (["mine.toml", "--set", "parameterization=1/(a*w**2+b)"], "needs a value for a, b"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(command, tmp_path, arguments, fragment):
    done = command(*arguments)
    assert isinstance(done.exception, SpecError) and fragment in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_another_sweep_needs_fresh_or_out(command):
    assert command("mine.toml").exit_code == 0
    refused = command("mine.toml", "--set", "seed=3")
    assert isinstance(refused.exception, StoreError) and "axes.seed: [0] -> [3]" in str(refused.exception)
    assert command("mine.toml", "--set", "seed=3", "--fresh").exit_code == 0


def test_failures_exit_with_1(command):
    failed = command("mine.toml", "--set", "mode=trace fails")
    assert failed.exit_code == 1 and "Error: 1 work item failed: RuntimeError: exp cannot be traced" in failed.stderr


def test_a_full_disk_exits_with_1(command, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stablessm.datasets.os.fsync", refuse)
    failed = command("mine.toml")
    assert failed.exit_code == 1 and "mine.nc' cannot be written: No space left on device" in failed.stderr


def test_help_ends_with_examples(command):
    shown = command("--help")
    assert shown.exit_code == 0 and "stablessm run lr_stability" in shown.output
