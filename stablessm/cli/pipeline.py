"""The steps after a sweep: its dataset through the analyses to the figures, by name, from files to files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from stablessm.sweeps.places import Places, bundled, stem

if TYPE_CHECKING:
    import xarray as xr

    from stablessm.sweeps.spec import Spec


class MissingDataset(ValueError):
    """A dataset that has not been made yet; the message names the command that makes it."""


def module(kind: str, name: str) -> ModuleType:
    """Return the bundled analysis or figure module of a name.

    Args:
        kind: "analysis" or "figures".
        name: stem of its file.
    """
    path = bundled(kind) / f"{name}.py"
    specification = importlib.util.spec_from_file_location(f"stablessm_{kind}_{name}", path)
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded


def raw_dataset(spec: Spec, where: Places) -> xr.Dataset:
    """Load the dataset of an experiment.

    Raises:
        MissingDataset: it has not been run.
        DatasetError: the file is damaged or foreign.
    """
    from stablessm import datasets

    path = where.dataset(spec.name, spec.scale)
    if not path.exists():
        scale = "" if spec.scale == "quick" else f" --scale {spec.scale}"
        raise MissingDataset(f"'{path}' is not there; make it with: stablessm run {spec.name}{scale}")
    return datasets.load(path)


def analysis_path(spec: Spec, where: Places, analysis: str) -> Path:
    """Return the file of an analysis of an experiment."""
    return where.analysis / f"{stem(spec.name, spec.scale)}.{analysis}.nc"


def analyse_experiment(spec: Spec, where: Places) -> list[Path]:
    """Run every analysis of an experiment on its dataset; return the files written.

    Raises:
        MissingDataset: it has not been run.
        DatasetError: a file is damaged or foreign.
    """
    from stablessm import datasets

    raw = raw_dataset(spec, where)
    paths = []
    for name in spec.analyses:
        reduced = module("analysis", name).reduce(raw)
        reduced.attrs = {"analysis": name, "experiment": spec.name, "scale": spec.scale, "spec": spec.to_json()}
        path = analysis_path(spec, where, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        datasets.save(reduced, path)
        paths.append(path)
    return paths


def draw_experiment(spec: Spec, where: Places) -> list[Path]:
    """Draw every figure of an experiment from its datasets; return the files written.

    Raises:
        MissingDataset: a dataset a figure reads is not there.
        DatasetError: a file is damaged or foreign.
    """
    from stablessm import datasets
    from stablessm.plotting.saving import drawn, save

    def read(name: str) -> xr.Dataset:
        if name == "raw":
            return raw_dataset(spec, where)
        path = analysis_path(spec, where, name)
        if not path.exists():
            raise MissingDataset(f"'{path}' is not there; make it with: stablessm analyse {spec.name}")
        return datasets.load(path)

    paths = []
    for name in spec.figures:
        figure = module("figures", name)
        picture = drawn(figure.draw, *map(read, figure.READS))
        own = name if name == spec.name else f"{spec.name}.{name}"
        paths += save(picture, where.figures, stem(own, spec.scale))
    return paths
