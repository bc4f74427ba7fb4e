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


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn whatever zarr raises on a damaged folder into one sentence."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        detail = str(error).strip().splitlines()
        reason = detail[0].rstrip(".") if detail else type(error).__name__
        raise StoreError(f"'{path}' is damaged ({reason}); it is not overwritten, move it away first.") from None


@contextlib.contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn a refusal of the disk into one sentence."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"'{path}' cannot be written: {error.strerror or error}; what is done is kept.") from None
