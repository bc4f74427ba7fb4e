"""Where tables are written to: refused where something other than an older table would be lost."""

from __future__ import annotations

import os
from pathlib import Path

from stablessm.sweeps.errors import PlaceError
from stablessm.sweeps.folders import check_file

_OTHERS = {
    ".nc": "a dataset", ".zarr": "a store", ".toml": "a declaration", ".json": "provenance", ".py": "a program",
    ".npy": "an array", ".pdf": "a figure", ".svg": "a figure", ".png": "a figure",
}  # fmt: skip
_MAGIC = {b"\x89HDF\r\n\x1a\n": "a dataset", b"CDF": "a dataset", b"\x93NUMPY": "an array", b"PK\x03\x04": "an archive"}


def check_destinations(files: dict[str, Path | None], source: Path) -> None:
    """Refuse files that are the dataset shown, one another, or anything but a table.

    Args:
        files: option -> the file it names, None where it is not given.
        source: file of the dataset that is shown.

    Raises:
        PlaceError: see above, or a file that cannot be written.
    """
    seen: dict[Path, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        check_file(file, option)
        kind = _other_kind(file)
        real = Path(os.path.realpath(file))
        if real == Path(os.path.realpath(source)) or (file.exists() and source.exists() and file.samefile(source)):
            kind = "the dataset that is shown"
        if kind:
            raise PlaceError(f"{option}: '{file}' is {kind}; give the name of a table such as table.csv.")
        other = seen.setdefault(real, option)
        if other != option:
            raise PlaceError(f"{option}: '{file}' is the file of {other} too; give each a file of its own.")


def _other_kind(file: Path) -> str:
    if file.suffix.lower() in _OTHERS:
        return f"the name of {_OTHERS[file.suffix.lower()]}"
    if any(one.suffix == ".zarr" or (one / "sweep.json").is_file() for one in Path(os.path.realpath(file)).parents):
        return "inside a store"
    if file.is_file():
        with open(file, "rb") as opened:
            head = opened.read(8)
        return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")
    return ""
