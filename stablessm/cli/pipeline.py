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

from stablessm.sweeps.needs import needs
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
        MissingDataset: it has not been run, or lacks what an analysis needs.
        DatasetError: a file is damaged or foreign.
        DatasetWriteError: the disk refuses; the old files are intact.
    """
    from stablessm import datasets

    raw = raw_dataset(spec, where, given=given)
    source = _fingerprint(where.dataset(spec.name, spec.scale))
    for name in spec.analyses:
        _refuse_lacking(raw, needs("analysis", name).names, where.dataset(spec.name, spec.scale), name)
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


def draw_experiment(
    spec: Spec, where: Places, *, formats: Sequence[str] | None = None, preset: str | None = None, given: str = ""
) -> list[Path]:
    """Draw every figure of an experiment from its datasets; return the files written.

    Args:
        spec: the experiment.
        where: the folders of results.
        formats: some of "pdf", "svg" and "png", and of a figure that moves "gif" and "mp4"; all that can be written
            here by default.
        preset: of `plotting.presets.PRESETS`, which the files are named after, too.
        given: the words a command was given, for the advice.

    Raises:
        MissingDataset: a dataset a figure reads is not there, or lacks what the figure needs.
        DatasetError: a file is damaged or foreign.
        DatasetWriteError: the disk refuses; the old files are intact.
    """
    from stablessm.plotting.animation import MOVING, save_moving
    from stablessm.plotting.presets import PRESETS
    from stablessm.plotting.saving import FORMATS, drawn, save

    size = None if preset is None else PRESETS[preset]
    wanted = formats or (*FORMATS, *MOVING)

    def read(name: str, figure: str) -> xr.Dataset:
        if name == "raw":
            path, found = where.dataset(spec.name, spec.scale), raw_dataset(spec, where, given=given)
        else:
            path, found = analysis_path(spec, where, name), analysis_dataset(spec, where, name, given=given)
        _refuse_lacking(found, needs("figures", figure).names, path, figure)
        return found

    read_by = {name: [read(one, name) for one in needs("figures", name).reads] for name in spec.figures}
    paths = []
    for name, datasets in read_by.items():
        figure, own = module("figures", name), stem(spec.name, spec.scale)
        file = own if name == spec.name else f"{own}.{name}"
        file = file if preset is None else f"{file}.{preset}"
        still = [kind for kind in wanted if kind in FORMATS]
        if still:
            paths += save(drawn(figure.draw, *datasets, preset=size), where.figures, file, still)
        if hasattr(figure, "animate") and preset is None:
            paths += save_moving(figure.animate, datasets, where.figures, file, wanted)
    return paths


def _refuse_lacking(dataset: xr.Dataset, names: Sequence[str], path: Path, asking: str) -> None:
    missing = [name for name in names if name not in dataset.variables]
    if missing:
        raise MissingDataset(
            f"'{path}' holds no {', '.join(missing)}, which {asking!r} needs: it is of another measurement or version; "
            "run the experiment again, with --fresh or another --out."
        )


def _fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _version() -> str:
    try:
        return version("stablessm")
    except PackageNotFoundError:
        return "unknown"
