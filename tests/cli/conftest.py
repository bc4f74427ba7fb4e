import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "figures"))


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Run the command line in a folder of its own; returns exit code, stdout and stderr."""
    from stablessm.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main([str(one) for one in arguments])
        seen = capsys.readouterr()
        return stopped.value.code or 0, seen.out, seen.err

    return run


def _content(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def refused(call, tmp_path):
    """Assert that a command is bad input, said in one sentence, and leaves its folder as it was; return that."""

    def run(*arguments):
        before = _content(tmp_path)
        code, out, error = call(*arguments)
        assert (code, out) == (2, ""), (code, out, error)
        assert error.startswith("Error: ") and error.endswith(".\n") and error.count("\n") == 1, error
        assert _content(tmp_path) == before
        return error

    return run
