"""One run of a name at a time: whoever writes its files holds a lock, and lets go of it by ending however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from stablessm.runs.declaration import RunError
from stablessm.runs.setup import Files
from stablessm.writing import DatasetWriteError

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def owned(files: Files) -> Iterator[None]:
    """Own the files of a run for the duration.

    The lock is on a file beside them, for a checkpoint is another file every time it is written.

    Args:
        files: of the run.

    Raises:
        RunError: another run owns them, or their disk has no locks.
        DatasetWriteError: the disk refuses.
    """
    if fcntl is None:
        yield
        return
    path = files.checkpoint.with_name(f".{files.checkpoint.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.exists(path) and os.path.samestat(os.fstat(handle), os.stat(path)):
                    break
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # of a run that ended between the two lines and took it away
    except BlockingIOError:
        raise RunError(
            f"'{files.checkpoint}' is being trained by another run: wait for it, or give --name or --out for another "
            "place"
        ) from None
    except OSError as error:
        raise DatasetWriteError(
            f"'{path}' cannot be made or locked ({error.strerror or error}), so that two runs could write one file"
        ) from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        os.close(handle)
