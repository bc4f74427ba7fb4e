"""What a folder of results holds, by experiment and scale: datasets, figures, recordings, provenance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stablessm import datasets

if TYPE_CHECKING:
    import xarray as xr

PAGES = ("claims", "verdicts")
"""Datasets that are no experiment's: each has a part of the page of its own."""
SCALES = ("full", "quick")
_PICTURES = (".svg", ".png")
_MOVING = ".gif"
_SAMPLES = ".samples"


@dataclass(frozen=True)
class Run:
    """What there is of one experiment at one scale.

    Attributes:
        scale: quick or full.
        raw: its dataset, None where only what was made from it is there.
        analyses: name of an analysis -> the dataset it returned.
        figures: name of a figure, the experiment's own "" -> its file, SVG where there is one, PNG otherwise.
        moving: name of a figure -> GIF.
        documents: name of a figure -> PDF, where there is nothing that a page can show.
        sounds: wav files.
        provenance: what is stored beside the dataset.
        files: the datasets' files, by "" for the raw one and the name of an analysis.
    """

    scale: str
    raw: xr.Dataset | None = None
    analyses: dict[str, xr.Dataset] = field(default_factory=dict)
    figures: dict[str, Path] = field(default_factory=dict)
    moving: dict[str, Path] = field(default_factory=dict)
    documents: dict[str, Path] = field(default_factory=dict)
    sounds: tuple[Path, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, Any]:
        """Attributes of its dataset, or of what was made from it."""
        every = [self.raw] if self.raw is not None else list(self.analyses.values())
        return every[0].attrs if every else {}

    @property
    def declared(self) -> dict[str, Any]:
        """The declaration as it was run, {} where the dataset is not of a sweep."""
        spec = self.about.get("spec")
        try:
            found = json.loads(spec) if isinstance(spec, str) else spec
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Experiment:
    """What there is of one experiment.

    Attributes:
        name: of the experiment.
        runs: one for each scale, the full one first.
    """

    name: str
    runs: tuple[Run, ...]


def names(raw: Path, analysis: Path) -> tuple[str, ...]:
    """Return the names of the experiments of which a folder of results holds a dataset, sorted.

    Args:
        raw: folder of the raw datasets.
        analysis: folder of what analyses returned.
    """
    stems = [path.name.split(".")[0] for folder in (raw, analysis) for path in folder.glob("*.nc")]
    return tuple(sorted({_experiment(stem) for stem in stems} - set(PAGES)))


def gather(raw: Path, analysis: Path, figures: Path, name: str) -> Experiment:
    """Load what there is of an experiment.

    Args:
        raw: folder of the raw datasets.
        analysis: folder of what analyses returned.
        figures: folder of rendered figures.
        name: of the experiment.

    Raises:
        DatasetError: a dataset is damaged or foreign.
    """
    runs = [_run(raw, analysis, figures, name, scale) for scale in SCALES]
    return Experiment(name, tuple(one for one in runs if one.raw is not None or one.analyses))


def pages(analysis: Path, page: str) -> dict[str, xr.Dataset]:
    """Return the datasets of a page by scale.

    Args:
        analysis: folder of what analyses returned.
        page: one of `PAGES`.

    Raises:
        DatasetError: a dataset is damaged or foreign.
    """
    paths = {scale: analysis / f"{_stem(page, scale)}.nc" for scale in SCALES}
    return {scale: datasets.load(path) for scale, path in paths.items() if path.exists()}


def _run(raw: Path, analysis: Path, figures: Path, name: str, scale: str) -> Run:
    own = _stem(name, scale)
    files = {path.name[len(own) + 1 : -3]: path for path in sorted(analysis.glob(f"{own}.*.nc"))}
    analyses = {key: datasets.load(path) for key, path in files.items()}
    path = raw / f"{own}.nc"
    found = datasets.load(path) if path.exists() else None
    if found is not None:
        files = {"": path, **files}
    pictures = {kind: dict(_pictures(figures, own, kind)) for kind in (*_PICTURES, _MOVING, ".pdf")}
    shown = {**pictures[".png"], **pictures[".svg"]}
    sounds = [*(raw / f"{own}{_SAMPLES}").glob("*.wav"), *figures.glob(f"{own}.*.wav"), *figures.glob(f"{own}.wav")]
    return Run(
        scale,
        found,
        analyses,
        dict(sorted(shown.items())),
        pictures[_MOVING],
        {key: one for key, one in pictures[".pdf"].items() if key not in shown},
        tuple(sorted(sounds, key=_by_number)),
        _provenance(path),
        files,
    )


def _pictures(folder: Path, own: str, kind: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.glob(f"{own}*{kind}")):
        rest = path.name[len(own) : -len(kind)]
        if rest == "" or rest.startswith("."):
            yield rest[1:], path


def _provenance(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.with_suffix(".provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _by_number(path: Path) -> tuple[int, str]:
    """Sort "9.sampled.wav" before "10.true.wav"."""
    head = path.name.split(".")[0]
    return (int(head) if head.isdigit() else 0, path.name)


def _experiment(stem: str) -> str:
    return stem.removesuffix("-full")


def _stem(name: str, scale: str) -> str:
    return name if scale == "quick" else f"{name}-{scale}"


def in_order(found: Sequence[str], first: Sequence[str]) -> list[str]:
    """Return names, those of `first` before the others and in its order."""
    return [one for one in first if one in found] + [one for one in found if one not in first]
