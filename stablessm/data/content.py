"""The content of the files of a set: out of gzip and zip, and held to the published sizes and checksums.

A part that has the size of the published one must be the published one: what differs is damaged, or of another set that
was given this name. A part of another size, a user's own selection say, is taken if it is sound in itself, and the
record says that it is not the published one.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from stablessm.data.catalogue import DATA_SETS
from stablessm.data.places import Found
from stablessm.data.registry import DataError, DataSet, Part
from stablessm.reading import read_bytes


class File(NamedTuple):
    """A file, or a member of an archive.

    Attributes:
        path: for sentences and labels.
        content: without gzip.
    """

    path: Path
    content: bytes


class Source(NamedTuple):
    """What a record was read from.

    Attributes:
        place: folder or package.
        sha256: of the contents, part by part.
        published: whether that is the published content; None where that is not on record.
    """

    place: str
    sha256: str
    published: bool | None


def read(path: Path) -> bytes:
    """Return what a file holds, gzipped or not.

    Args:
        path: of the file; gzipped where it ends in .gz.

    Raises:
        DataError: it cannot be read, or is not gzip, or ends too early.
    """
    raw = read_bytes(path, "file", DataError)
    if path.suffix != ".gz":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' is damaged: it should be gzip, but {error}") from None


def contents(known: DataSet, found: Found) -> tuple[list[list[File]], Source]:
    """Read the files of a set.

    Args:
        known: the set.
        found: where it is.

    Returns:
        The files of each part, and what they are.

    Raises:
        DataError: a file that cannot be read, or a part of the published size with another content.
    """
    parts, whole, verdicts = [], hashlib.sha256(), []
    for part, paths in zip(found.layout.parts, found.files, strict=True):
        files = [
            one for path in paths for one in (_members(path) if path.suffix == ".zip" else [File(path, read(path))])
        ]
        digest = hashlib.sha256()
        for one in files:
            digest.update(one.content)
        whole.update(digest.digest())
        verdicts.append(_is_published(known, part, files, digest.hexdigest()))
        parts.append(files)
    published = None if None in verdicts else all(verdicts)
    return parts, Source(str(found.place), whole.hexdigest(), published)


def _is_published(known: DataSet, part: Part, files: list[File], digest: str) -> bool | None:
    if not part.sha256:
        return None
    if sum(len(one.content) for one in files) != part.size:
        return False
    if digest == part.sha256:
        return True
    others = [
        other.name
        for other in DATA_SETS.values()
        for layout in other.layouts
        if digest in {one.sha256 for one in layout.parts}
    ]
    told = f"it is that of {others[0]!r}" if others else "it is damaged or of another set"
    where = f"'{files[0].path}'" if len(files) == 1 else f"{len(files)} files in '{files[0].path.parent}'"
    raise DataError(f"{where}: the content is not that of {known.name!r}, whose size it has: {told}")


def _members(path: Path) -> list[File]:
    """Return the recordings in an archive, in the order of their names."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path, "file", DataError))) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(".wav") and "__MACOSX" not in name)
            return [File(path / name, archive.read(name)) for name in names]
    # The last two are how zipfile refuses a compression it does not know, and a password.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"'{path}' is damaged: it should be a zip archive, but {error}") from None
