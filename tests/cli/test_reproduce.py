"""A second `reproduce` does nothing and says so; what is missing, or made from something else, is made again."""

import os
import shutil
from concurrent.futures import BrokenExecutor, Future

import pytest
import typer

from stablessm.cli.reproduce import Waiting, _say_saved

NOTHING = "nothing to do: 1 experiment with all analyses and figures made already"


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    from typer.testing import CliRunner

    from stablessm.cli import app

    folder = tmp_path_factory.mktemp("once")
    assert CliRunner().invoke(app, ["reproduce", "maps", "--out", str(folder)]).exit_code == 0
    return folder


def times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_second_time_nothing_is_written(call, once):
    before = times(once)
    code, out, _ = call("reproduce", "maps", "--out", once)
    assert (code, NOTHING in out) == (0, True)
    assert times(once) == before


def spoil_a_figure(once):
    (once / "figures" / "maps.png").write_bytes(b"")


def lose_a_figure(once):
    (once / "figures" / "maps.pdf").unlink()


def change_the_code(once, monkeypatch):
    monkeypatch.setattr("stablessm.cli.made._code", lambda: "other")


def damage_the_record(once):
    (once / "raw" / ".made.json").write_bytes(b'{"maps')


@pytest.mark.parametrize("harm", [spoil_a_figure, lose_a_figure, damage_the_record, change_the_code])
def test_what_is_not_as_it_was_is_made_again(call, once, monkeypatch, harm):
    picture = (once / "figures" / "maps.svg").read_bytes()
    harm(once, monkeypatch) if harm is change_the_code else harm(once)
    out = call("reproduce", "maps", "--out", once)[1]
    assert "complete already" in out and "maps.png" in out and NOTHING not in out
    assert (once / "figures" / "maps.svg").read_bytes() == picture
    assert NOTHING in call("reproduce", "maps", "--out", once)[1]


def test_on_a_full_disk_it_exits_1_and_keeps_what_there_is(call, once, tmp_path, monkeypatch):
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    (tmp_path / "figures" / "maps.svg").write_bytes(b"an older one")
    kept = {path: path.read_bytes() for path in (tmp_path / "figures").iterdir()}

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    code, _, error = call("reproduce", "maps", "--out", tmp_path)
    assert code == 1 and error.splitlines()[-1].startswith("Error: ")
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_process_beside_it_that_dies_is_said_in_one_sentence(capsys):
    lost = Future()
    lost.set_exception(BrokenExecutor("terminated abruptly"))
    with pytest.raises(typer.Exit):
        _say_saved(Waiting([lost]))
    assert capsys.readouterr().err.startswith("Error: the process that analyses and draws was ended; run it again")
