"""Reading a file that a user named: its bytes, or one sentence. Imports nothing heavy."""

from __future__ import annotations

from pathlib import Path


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
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise error(f"there is no {kind} '{path}'{advice}.") from None
    except (OSError, ValueError) as reason:  # ValueError: a path with a NUL
        told = getattr(reason, "strerror", None) or reason
        raise error(f"the {kind} {str(path)!r} cannot be read: {told}.") from None
