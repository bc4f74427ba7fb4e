"""Session set-up: which tests run, and what they share. 64-bit floats have a process of their own.

`make test` must stay below eight minutes on two cores, so a new test is cheap: it asks for the smallest case that can
fail, a fixture of its module (`scope="module"`) for what several tests look at, one child process and not several, and
the fixture `call` instead of a process where the command is the subject and not its start, one compiled program and not
several. What compiles much and does not hold to rounding is named in the Makefile, which turns XLA's optimiser off for
it; such a test asserts what is true however XLA rounds. Large matrices of cases are thinned by `matrix(n)`; what is
long is `slow`. Neither may leave a behaviour without any test in `make test`. Workers and child processes share
compiled programs and, within a session, certificates; a test whose subject is one of these gives a folder of its own.
The float64 process reads only files that name the mark `float64` or `both_precisions`.
"""

import os
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

_CASES = pytest.StashKey[Counter]()
FLOAT64 = os.environ.get("JAX_ENABLE_X64", "").lower() in ("1", "true", "yes", "on")
_MARKS_FLOAT64 = re.compile(r"mark\.float64|both_precisions")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(tempfile.gettempdir()) / "stablessm-test-cache"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="Run every case of every matrix, and the slow tests.")
    parser.addoption("--slurm", action="store_true", help="Run the tests of a SLURM cluster, and no others.")


def pytest_configure(config: pytest.Config) -> None:
    """Let Hypothesis draw the same examples in every `make test`; `make test-full` draws new ones."""
    hypothesis.settings.register_profile("repeatable", derandomize=True)
    if not config.getoption("--full"):
        hypothesis.settings.load_profile("repeatable")
    if not hasattr(config, "workerinput"):  # before xdist starts its workers, which inherit it
        cache = tempfile.mkdtemp(prefix="stablessm-test-")
        os.environ["XDG_CACHE_HOME"] = cache
        config.add_cleanup(lambda: shutil.rmtree(cache, ignore_errors=True))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave files without a float64 test out of the float64 process: to import them all takes longer than its tests."""
    if FLOAT64 and collection_path.match("test_*.py") and not _MARKS_FLOAT64.search(collection_path.read_text("utf-8")):
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of the other precision, and without --full what is marked slow and most of a matrix.

    JAX_ENABLE_X64=1 selects those marked float64, its absence the rest. Of a test marked matrix(n) every n-th case is
    kept, always the same ones. Deselected and not skipped: a run that reports "passed" has run each of its tests in the
    precision it was meant for.
    """
    chosen = [item for item in items if ("float64" in item.keywords) == FLOAT64]
    chosen = [item for item in chosen if ("slurm" in item.keywords) == config.getoption("--slurm")]
    if not config.getoption("--full"):
        chosen = [item for item in chosen if "slow" not in item.keywords and _kept(item, _seen(config))]
    dropped = set(items) - set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item in dropped])
    items[:] = chosen


def _seen(config: pytest.Config) -> Counter:
    return config.stash.setdefault(_CASES, Counter())


def _kept(item: pytest.Item, seen: Counter) -> bool:
    """Whether a case of a matrix is one of those that always run."""
    matrix = item.get_closest_marker("matrix")
    if matrix is None:
        return True
    test = item.nodeid.partition("[")[0]
    seen[test] += 1
    return (seen[test] - 1) % matrix.args[0] == 0


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Run the command line in a folder of its own; returns exit code, stdout and stderr."""
    from stablessm.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # runners of tests set it, and tables would be as narrow

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main([str(one) for one in arguments])
        seen = capsys.readouterr()
        return stopped.value.code or 0, seen.out, seen.err

    return run
