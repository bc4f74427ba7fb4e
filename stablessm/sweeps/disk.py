"""What a disk does to a store: it refuses, it holds bytes back, it loses some of them, or others have damaged it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from stablessm.sweeps.errors import StoreError, WriteError

_CHECKSUM = 4  # bytes
_to_disk = getattr(os, "fdatasync", os.fsync)


def push(file: Path) -> None:
    """Push what a file holds to the disk."""
    handle = os.open(file, os.O_RDONLY)
    try:
        _to_disk(handle)
    finally:
        os.close(handle)


def is_cut(file: Path, size: int) -> bool:
    """Whether a chunk of `size` bytes and its checksum is there, but not whole."""
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_size < size + _CHECKSUM
    return False


def is_refusal(error: BaseException) -> bool:
    """Whether the system refuses to read a file, which says nothing of what the file holds."""
    absent = FileNotFoundError | NotADirectoryError | IsADirectoryError
    return isinstance(error, OSError) and error.errno is not None and not isinstance(error, absent)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn whatever zarr raises on a folder that is damaged, or that may not be read, into one sentence."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        if is_refusal(error):
            raise StoreError(_unreadable(path, error)) from None
        detail = str(error).strip().splitlines()
        reason = detail[0].rstrip(".") if detail else type(error).__name__
        raise StoreError(f"'{path}' is damaged ({reason}); it is not overwritten, move it away first.") from None


def _unreadable(path: Path, error: BaseException) -> str:
    file, reason = getattr(error, "filename", None), getattr(error, "strerror", None) or error
    which = f"'{file}' in it" if file and Path(str(file)) != path else "it"
    return f"'{path}' cannot be read ({which}: {str(reason).lower()}); nothing is changed."


@contextlib.contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn a refusal of the disk into one sentence."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"'{path}' cannot be written: {error.strerror or error}; what is done is kept.") from None
