"""Reading a file that a user named: its bytes, or one sentence. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def read_bytes(path: Path, kind: str, error: type[ValueError], *, advice: str = "") -> bytes:
    """Return what a file holds.

    Args:
        path: the file.
        kind: what it is to be, for the sentence: "file", "dataset".
        error: what is raised where it cannot be read.
        advice: said after a file that is not there, as "; " and a clause.

    Raises:
        ValueError: as `error`, naming the file: it is not there, or cannot be read.
    """
    with _told(path, kind, error, advice):
        return path.read_bytes()


@contextmanager
def readable(path: Path, kind: str, error: type[ValueError], *, advice: str = "") -> Iterator[BinaryIO]:
    """Yield a file, open for reading; arguments and error are those of `read_bytes`."""
    with _told(path, kind, error, advice):
        file = open(path, "rb")  # noqa: SIM115  (closed by the next with)
    with file:
        yield file


@contextmanager
def _told(path: Path, kind: str, error: type[ValueError], advice: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise error(f"there is no {kind} '{path}'{advice}.") from None
    except (OSError, ValueError) as reason:  # ValueError: a path with a NUL
        told = getattr(reason, "strerror", None) or reason
        raise error(f"the {kind} {str(path)!r} cannot be read: {told}.") from None
