import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "figures"))


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
