"""Whether results can go to a folder, asked before anything else is done. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.errors import PlaceError
from stablessm.sweeps.places import Places, places
from stablessm.sweeps.texts import illegible

_LONGEST_NAME = "x" * 200  # no file of ours has a longer one: the name of an experiment is held to 100 characters
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check(out: Any, *, writing: bool = True) -> Places:
    """Return the folders that results go to, or refuse them; nothing is left behind.

    Args:
        out: the folder the user named; None for the default of the current folder.
        writing: False where results are only read.

    Raises:
        PlaceError: no folder can be there, for its name or for what is there, or it cannot be made. A full disk is not
            refused, nor is a folder that is there and cannot be written: the run says so when it writes.
    """
    if out is not None and not isinstance(out, str | os.PathLike):
        raise PlaceError(f"--out: a folder must be a path, but got {quoted(out)}.")
    where = places(out)
    for folder in (where.raw, where.analysis, where.figures):
        check_folder(folder, "--out", writing=writing)
    return where


def check_folder(folder: Path, option: str, *, writing: bool = True) -> None:
    """Refuse a folder that is none and cannot be made one.

    Args:
        folder: it need not be there.
        option: what named it, for the sentence.
        writing: whether files will be made in it.

    Raises:
        PlaceError: see `check`.
    """

    def refuse(reason: str) -> PlaceError:
        return PlaceError(f"{option}: {quoted(str(folder))} cannot be a folder of results: {reason}.")

    if illegible(str(folder)):
        raise refuse(f"a path holds no {illegible(str(folder))}")
    try:
        os.lstat(folder / _LONGEST_NAME)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        file = next(one for one in (folder, *folder.parents) if os.path.lexists(one))
        raise refuse(f"{quoted(str(file))} is no folder") from None
    except OSError as error:
        raise refuse(_reason(error)) from None
    above = next(one for one in (folder, *folder.parents) if os.path.lexists(one) or one == one.parent)
    if not above.is_dir():
        raise refuse(f"{quoted(str(above))} is no folder")
    if writing and above != folder:  # what is there is not touched: a sweep that is complete writes nothing
        try:
            os.rmdir(tempfile.mkdtemp(prefix=".stablessm-", dir=above))
        except OSError as error:
            if error.errno not in _FULL:
                raise refuse(f"nothing can be written to {quoted(str(above))} ({_reason(error)})") from None


def check_file(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, or that is no regular file; an older file there may be replaced.

    Raises:
        PlaceError: see `check`.
    """
    if illegible(str(path)):
        raise PlaceError(f"{option}: {quoted(str(path))} cannot be written: a path holds no {illegible(str(path))}.")
    with contextlib.suppress(OSError):
        kind = os.stat(path).st_mode
        if not stat.S_ISREG(kind):
            what = "a folder" if stat.S_ISDIR(kind) else "no regular file"
            raise PlaceError(f"{option}: {quoted(str(path))} cannot be written: it is {what}.")
    check_folder(path.parent, option)
    try:
        os.lstat(path.with_name(f".{path.name}.{'0' * 10}.partial"))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise PlaceError(f"{option}: {quoted(str(path))} cannot be written: {_reason(error)}.") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
