"""Folders, files and texts that cannot be: refused before anything runs, whatever the command."""

import handmade
import pytest

from stablessm import datasets
from stablessm.cli.destinations import check_destinations
from stablessm.sweeps.declarations import load_spec
from stablessm.sweeps.errors import PlaceError, SpecError
from stablessm.sweeps.folders import check
from stablessm.sweeps.run import run_sweep


@pytest.fixture
def shown(tmp_path):
    made = handmade.maps(parameterization=("exp",))
    made.attrs["spec"] = load_spec("maps").to_json()
    datasets.save(made, tmp_path / "o" / "raw" / "maps.nc")
    return tmp_path / "o" / "raw" / "maps.nc"


@pytest.mark.parametrize("command", ["run", "analyse", "draw", "reproduce", "show"])
@pytest.mark.parametrize(
    "out", ["a" * 300, "file", "file/below", "/dev/null", "link", "a\x00b", "a\x07b", "deep/" * 900]
)
def test_a_folder_that_cannot_be(refused, tmp_path, command, out):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "--out" in refused(command, "maps", "--out", out)


@pytest.mark.parametrize("command", ["run", "analyse", "draw", "reproduce"])
def test_a_folder_that_cannot_be_written(refused, command):
    assert "nothing can be written to '/proc'" in refused(command, "maps", "--out", "/proc/o")


def test_a_file_where_the_default_folder_goes(refused, tmp_path):
    (tmp_path / "results").write_text("mine")
    assert "'results' is no folder" in refused("run", "maps")


def test_a_good_folder_is_left_as_it_is(tmp_path):
    check(tmp_path / "new" / "below")
    check(tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(PlaceError, match="a folder must be a path, but got 3"):
        run_sweep("maps", out=3)


def test_a_full_disk_is_no_bad_input(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stablessm.sweeps.folders.tempfile.mkdtemp", refuse)
    assert check(tmp_path).raw == tmp_path / "raw"


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (["--csv", "o/raw/maps.nc"], "--csv: 'o/raw/maps.nc' is the dataset that is shown"),
        (["--latex", "hard"], "--latex: 'hard' is the dataset that is shown"),
        (["--csv", "other"], "'other' is a dataset"),
        (["--csv", "new.nc"], "is the name of a dataset"),
        (["--csv", "mine.toml"], "is the name of a declaration"),
        (["--latex", ""], "--latex: '.' cannot be written: it is a folder"),
        (["--csv", "o"], "it is a folder"),
        (["--csv", "/dev/null"], "it is no regular file"),
        (["--csv", "a.zarr/t.csv"], "is inside a store"),
        (["--csv", "mine.toml/t.csv"], "'mine.toml' is no folder"),
        (["--csv", "t.csv", "--latex", "o/../t.csv"], "is the file of --csv too"),
        (["--csv", "a" * 250], "file name too long"),
        (["--csv", "a\x00b"], "--csv"),
    ],
)
def test_a_table_takes_the_place_of_nothing_else(refused, shown, tmp_path, options, fragment):
    (tmp_path / "hard").hardlink_to(shown)
    datasets.save(handmade.maps(), tmp_path / "copy.nc")
    (tmp_path / "copy.nc").rename(tmp_path / "other")
    (tmp_path / "mine.toml").write_text("")
    assert fragment in refused("show", "maps", "--out", "o", *options)


def test_a_table_takes_the_place_of_a_table(shown, tmp_path):
    (tmp_path / "t.csv").write_text("old")
    check_destinations({"--csv": tmp_path / "t.csv", "--latex": tmp_path / "new" / "t.tex"}, shown)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("source", ["a\x00b.toml", "a" * 300 + ".toml", "a\x00b.nc", "a" * 300 + ".nc", "a\x00b"])
def test_a_declaration_or_dataset_of_an_impossible_name(refused, source):
    refused("show", source)


@pytest.mark.parametrize(
    ("more", "fragment"),
    [
        ({"title": "a\x00b"}, "key 'title': a text holds no control characters, but got 'a\\x00b'"),
        ({"description": "\x1b[2J"}, "key 'description': a text holds no control characters"),
        ({"title": "\ud800"}, "key 'title': a text holds no characters that are no Unicode"),
        ({"axes": {"parameterization": [{"name": "exp", "label": "a\x07"}]}}, "key 'axes.parameterization.label'"),
        ({"axes": {"parameterization": ["exp"], "a\x00": 1}}, "key 'axes': a key must be a plain text"),
        ({"scale": {"full": {"settings": {"points": "\x00"}}}}, "key 'scale.full.settings.points'"),
        ({"name": "a" * 300}, "at most 100 of them"),
        ({"name": "a\x00b"}, "key 'name': a text holds no control characters"),
        ({3: 4}, "a key must be a plain text, but got 3"),
    ],
)
def test_a_text_that_nothing_can_hold(more, fragment):
    with pytest.raises(SpecError) as caught:
        load_spec({"name": "mine", "measurement": "maps", "axes": {"parameterization": ["exp"]}, **more})
    assert fragment in str(caught.value)


def test_text_of_several_lines_is_kept():
    document = {"measurement": "maps", "axes": {"parameterization": ["exp"]}, "description": "two\nlines\tλ"}
    assert load_spec(document).description == "two\nlines\tλ"
    with pytest.raises(SpecError, match="--set: a text holds no control characters"):
        load_spec(document, overrides=["parameterization=exp(label=a\x00b)"])
