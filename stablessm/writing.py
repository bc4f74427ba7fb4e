"""Files that appear whole or not at all: a temporary name in the same folder, a push to the disk, a rename."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]


class DatasetError(ValueError):
    """A dataset that breaks the rules, or a file that is missing, damaged, foreign or cannot be written."""


class DatasetWriteError(DatasetError):
    """A dataset that could not be written (no space, no permission); the old file, if any, is intact."""


def sweep_stale(left: Iterable[Path]) -> None:
    """Delete what a killed run left half-written, files and folders; what a run is at stays.

    Raises:
        DatasetWriteError: one of them cannot be deleted; the sentence names it.
    """
    for stale in list(left):
        if _is_at_work(stale):
            continue
        try:
            if stale.is_dir() and not stale.is_symlink():
                shutil.rmtree(stale)
            else:
                stale.unlink(missing_ok=True)
        except OSError as error:
            raise DatasetWriteError(
                f"'{stale}' was left by a run that was killed and cannot be deleted: {error.strerror or error}."
            ) from None


@contextlib.contextmanager
def at_work(path: Path) -> Iterator[None]:
    """Keep others from sweeping a file or folder for the duration; a killed process lets go by dying."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk without locks
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _is_at_work(path: Path) -> bool:
    if fcntl is None or path.is_symlink():
        return False
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name in the same folder, push it to the disk, and rename it over the old file.

    Raises:
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    with written_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that is empty, open for reading and writing, and takes its place when the block ends well.

    Raises:
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep_stale(path.parent.glob(f".{glob.escape(path.name)}.*.partial"))
        with open(temporary, "w+b") as file, at_work(temporary):
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) or (isinstance(error, ValueError) and "\0" in str(path)):
            reason = getattr(error, "strerror", None) or error
            raise DatasetWriteError(
                f"{str(path)!r} cannot be written: {reason}; what was there before is intact."
            ) from None
        raise
