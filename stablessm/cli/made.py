"""What was made from what, by content: a step whose inputs, code and outputs are as they were need not run again.

A record lies beside the raw datasets. It is a memory and not a result: where it is lost or unreadable, everything is
made anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from stablessm.sweeps.places import PACKAGE, Places, bundled
from stablessm.writing import write_whole

_LIBRARIES = ("jax", "matplotlib", "numpy", "scipy", "sympy", "xarray")


class Made:
    """The record of a folder of results."""

    def __init__(self, where: Places) -> None:
        """Read the record, if there is one.

        Args:
            where: the folders of results.
        """
        self._path = where.raw / ".made.json"
        try:
            known = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            known = {}
        self._known: dict[str, object] = known if isinstance(known, dict) else {}

    def is_current(self, step: str, inputs: Iterable[Path]) -> bool:
        """Return whether a step has been made from these inputs by this code, and what it wrote is still there.

        Args:
            step: its name.
            inputs: the files it reads.
        """
        match self._known.get(step):
            case {"from": source, "files": dict(files)}:
                return source == _source(inputs) and all(
                    _digest(self._path.parent.resolve() / name) == one for name, one in files.items()
                )
        return False

    def make(self, step: str, inputs: Iterable[Path], action: Callable[[], Iterable[Path]]) -> list[Path]:
        """Carry out a step and record it.

        Args:
            step: its name.
            inputs: the files it reads.
            action: writes files, and returns them.

        Returns:
            What `action` returned.

        Raises:
            WriteError: the disk refuses.
        """
        written = list(action())
        # Relative to the record, so that a folder that is moved or copied speaks of its own files.
        here = self._path.parent.resolve()
        files = {os.path.relpath(path.resolve(), here): _digest(path) for path in written}
        self._known[step] = {"from": _source(inputs), "files": files}
        write_whole(self._path, json.dumps(self._known, indent=1).encode())
        return written


def _source(inputs: Iterable[Path]) -> str:
    return sha256("".join([_code(), *map(_digest, inputs)]).encode()).hexdigest()


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "not there"


@cache
def _code() -> str:
    """Return the digest of all that decides a step's outputs beside its inputs: this project's code, its libraries."""
    found = sha256()
    for folder in (PACKAGE, bundled("analysis"), bundled("figures")):
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder)} {_digest(path)}\n".encode())
    for name in _LIBRARIES:
        try:
            found.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            found.update(f"{name} unknown\n".encode())
    return found.hexdigest()
