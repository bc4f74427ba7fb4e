"""Benchmark `startup`: whole commands in fresh processes, with the compilation cache warm."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from stablessm.bench.base import Candidate, Case


def _process(*words: str) -> Callable[[], object]:
    def run() -> object:
        return subprocess.run([sys.executable, *words], check=True, capture_output=True)

    run()
    return run


def cases(quick: bool) -> Iterator[Case]:
    """Yield `--help` against an empty interpreter, and a first result against importing the libraries alone.

    Args:
        quick: the same; both are short.
    """
    module = ("-m", "stablessm")
    yield Case("help", 0, 0, [
        Candidate("an empty interpreter", _process("-c", "pass"), 1),
        Candidate("stablessm --help", _process(*module, "--help"), 1),
    ])  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        first = ("run", "gradient_scale", "--fresh", "--out", folder)
        yield Case("first result", 0, 0, [
            Candidate("import jax, sympy, xarray, zarr", _process("-c", "import jax, sympy, xarray, zarr"), 1),
            Candidate("stablessm run gradient_scale", _process(*module, *first), 1),
        ])  # fmt: skip
