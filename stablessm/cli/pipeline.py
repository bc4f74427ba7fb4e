"""The steps after a sweep: its dataset through the analyses to the figures, by name, from files to files."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from stablessm.sweeps.places import Places, bundled, stem

if TYPE_CHECKING:
    import xarray as xr

    from stablessm.sweeps.spec import Spec


class MissingDataset(ValueError):
    """A dataset that is not there, or not of the sweep that is; the message names the command that makes it."""


def module(kind: str, name: str) -> ModuleType:
    """Return the bundled analysis or figure module of a name.

    The folder is made a package under a name of our own, so that a module there can import its neighbours.

    Args:
        kind: "analysis" or "figures".
        name: stem of its file.
    """
    package = f"_stablessm_{kind}"
    if package not in sys.modules:
        parent = ModuleType(package)
        parent.__path__ = [str(bundled(kind))]
        sys.modules[package] = parent
    return import_module(f"{package}.{name}")


def arguments(experiment: str, scale: str = "quick", out: str | Path | None = None) -> str:
    """Return the words that a command was given, to be repeated in advice."""
    words = [
        experiment,
        *([] if scale == "quick" else ["--scale", scale]),
        *([] if out is None else ["--out", str(out)]),
    ]
    return shlex.join(words)


@contextmanager
def writing() -> Iterator[None]:
    """Turn a disk that refuses into one line on stderr and exit code 1."""
    import typer

    from stablessm.datasets import DatasetWriteError

    try:
        yield
    except DatasetWriteError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None


def raw_dataset(spec: Spec, where: Places, *, given: str = "") -> xr.Dataset:
    """Load the dataset of an experiment.

    Args:
        spec: the experiment.
        where: the folders of results.
        given: the words a command was given (see `arguments`), for the advice; those of the spec by default.

    Raises:
        MissingDataset: it has not been run.
        DatasetError: the file is damaged or foreign.
    """
    from stablessm import datasets

    path = where.dataset(spec.name, spec.scale)
    if not path.exists():
        given = given or arguments(spec.name, spec.scale)
        raise MissingDataset(f"'{path}' is not there; make it with: stablessm run {given}")
    return datasets.load(path)


def analysis_path(spec: Spec, where: Places, analysis: str) -> Path:
    """Return the file of an analysis of an experiment."""
    return where.analysis / f"{stem(spec.name, spec.scale)}.{analysis}.nc"


def analysis_dataset(spec: Spec, where: Places, analysis: str, *, given: str = "") -> xr.Dataset:
    """Load what an analysis of an experiment returned.

    Raises:
        MissingDataset: it has not been made, or was made from another dataset than the one there is now.
        DatasetError: the file is damaged or foreign.
    """
    from stablessm import datasets

    path, raw = analysis_path(spec, where, analysis), where.dataset(spec.name, spec.scale)
    again = f"make it with: stablessm analyse {given or arguments(spec.name, spec.scale)}"
    if not path.exists():
        if analysis not in spec.analyses:
            raise MissingDataset(f"'{path}' is not there; name {analysis!r} among the analyses of {spec.name!r}.")
        raw_dataset(spec, where, given=given)
        raise MissingDataset(f"'{path}' is not there; {again}")
    found = datasets.load(path)
    if raw.exists() and found.attrs.get("source") != _fingerprint(raw):
        raise MissingDataset(f"'{path}' was made from another dataset than '{raw}'; {again}")
    return found


def analyse_experiment(spec: Spec, where: Places, *, given: str = "") -> list[Path]:
    """Run every analysis of an experiment on its dataset; return the files written.

    Raises:
        MissingDataset: it has not been run.
        DatasetError: a file is damaged or foreign.
        DatasetWriteError: the disk refuses; the old files are intact.
    """
    from stablessm import datasets

    raw = raw_dataset(spec, where, given=given)
    source = _fingerprint(where.dataset(spec.name, spec.scale))
    paths = []
    for name in spec.analyses:
        analysis = module("analysis", name)
        reduced = analysis.reduce(raw)
        reduced.attrs = {
            **{key: raw.attrs.get(key, "") for key in ("name", "title", "measurement", "reference", "scale", "spec")},
            "analysis": name,
            "summary": (analysis.__doc__ or "").split("\n")[0],
            "version": _version(),
            "source": source,
        }
        path = analysis_path(spec, where, name)
        datasets.save(reduced, path)
        paths.append(path)
    return paths


def draw_experiment(spec: Spec, where: Places, *, formats: Sequence[str] | None = None, given: str = "") -> list[Path]:
    """Draw every figure of an experiment from its datasets; return the files written.

    Args:
        spec: the experiment.
        where: the folders of results.
        formats: some of "pdf", "svg" and "png"; all by default.
        given: the words a command was given, for the advice.

    Raises:
        MissingDataset: a dataset a figure reads is not there.
        DatasetError: a file is damaged or foreign.
        DatasetWriteError: the disk refuses; the old files are intact.
    """
    from stablessm.plotting.saving import FORMATS, drawn, save

    def read(name: str) -> xr.Dataset:
        load = raw_dataset if name == "raw" else lambda *a, **k: analysis_dataset(*a, name, **k)
        return load(spec, where, given=given)

    paths = []
    for name in spec.figures:
        figure = module("figures", name)
        reads = (figure.READS,) if isinstance(figure.READS, str) else figure.READS
        picture = drawn(figure.draw, *map(read, reads))
        own = stem(spec.name, spec.scale)
        paths += save(picture, where.figures, own if name == spec.name else f"{own}.{name}", formats or FORMATS)
    return paths


def _fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _version() -> str:
    try:
        return version("stablessm")
    except PackageNotFoundError:
        return "unknown"
