"""What the page says of each experiment, as plain records that a template writes down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stablessm.report.curves import cube
from stablessm.report.gathering import Experiment, Run
from stablessm.report.tables import Table, tables

if TYPE_CHECKING:
    import xarray as xr

_MADE_BY = (
    "measurement", "reference", "version", "commit", "finished", "seconds", "device", "executor", "platform", "python",
    "cells", "digest", "source",
)  # fmt: skip
_TITLES = {"bench": "Benchmarks: the engine against its peers"}
VERDICT_KINDS = {
    "confirmed": "good", "confirmed_under_a_condition": "open", "not_confirmed": "bad", "undecided": "open",
    "not_measured": "open", "proved": "good", "refuted": "bad",
}  # fmt: skip
"""Verdict -> how it is coloured."""


@dataclass(frozen=True)
class Claim:
    """A published claim as the page tells it; `key` names it, `experiments` are those it is decided from."""

    key: str
    text: str
    source: str
    verdict: str
    numbers: str
    condition: str
    experiments: tuple[str, ...]


@dataclass(frozen=True)
class Map:
    """A map with its verdicts: `formula` is text of its decay, `statements` are (id, verdict, method, grounds)."""

    name: str
    link: str
    formula: str
    constants: str
    statements: tuple[tuple[str, str, str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Picture:
    """A figure: its file, what it shows, and the scale it is of."""

    path: Path
    meaning: str
    scale: str


@dataclass(frozen=True)
class Section:
    """What the page says of one experiment.

    Attributes:
        name: of the experiment.
        title: the question, as the declaration puts it.
        description: what is done, in a sentence.
        command: what makes it.
        scales: those that there are, the full one first.
        settings: what was held fixed, as (key, value).
        claims: published claims decided from it.
        curves: its datasets as `curves.cube` gives them.
        figures: static figures of the first scale.
        others: static figures of the second.
        moving: animations.
        documents: names of figures that there are as PDF only.
        tables: of the first scale, and of the second.
        sounds: wav files.
        provenance: by file, (key, value) pairs.
    """

    name: str
    title: str
    description: str
    command: str
    scales: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    claims: tuple[Claim, ...]
    curves: tuple[dict[str, Any], ...]
    figures: tuple[Picture, ...]
    others: tuple[Picture, ...]
    moving: tuple[Picture, ...]
    documents: tuple[str, ...]
    tables: tuple[Table, ...]
    other_tables: tuple[Table, ...]
    sounds: tuple[Path, ...]
    provenance: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def claims(dataset: xr.Dataset) -> tuple[Claim, ...]:
    """Return the claims of a page of claims.

    Args:
        dataset: claims.nc.
    """
    words = dict(enumerate(str(dataset["verdict"].attrs["flag_meanings"]).split()))
    texts = {name: dataset[name].values.tolist() for name in ("text", "source", "numbers", "condition", "reads")}
    return tuple(
        Claim(
            str(key), texts["text"][at], texts["source"][at], words[int(dataset["verdict"].values[at])],
            texts["numbers"][at], texts["condition"][at],
            tuple(dict.fromkeys(one.partition(".")[0] for one in texts["reads"][at].split(", "))),
        )
        for at, key in enumerate(dataset["claim"].values.tolist())
    )  # fmt: skip


def maps(dataset: xr.Dataset) -> tuple[Map, ...]:
    """Return the maps of a page of verdicts.

    Args:
        dataset: verdicts.nc, as `theory.table.as_dataset` makes it.
    """
    words = dict(enumerate(str(dataset["verdict"].attrs["flag_meanings"]).split()))
    ids = [str(one) for one in dataset["statement"].values]
    found = []
    for at in range(dataset.sizes["map"]):
        one = dataset.isel(map=at)
        verdicts = [words[int(code)] for code in one["verdict"].values]
        grounds = [tuple(str(text).split("\n")) for text in one["grounds"].values]
        statements = tuple(zip(ids, verdicts, map(str, one["method"].values), grounds, strict=True))
        name, link, formula, constants = (str(one[key].values) for key in ("name", "link", "formula", "constants"))
        found.append(Map(name.removesuffix(f" ({link})"), link, formula, constants, statements))
    return tuple(found)


def section(experiment: Experiment, decided: Sequence[Claim], meaning: Callable[[str], str]) -> Section:
    """Return what the page says of an experiment.

    Args:
        experiment: what there is of it.
        decided: the claims, of all experiments.
        meaning: name of a figure -> what it shows.
    """
    first, *rest = experiment.runs
    declared = first.declared
    title = first.about.get("title") or _TITLES.get(experiment.name) or experiment.name.replace("_", " ").capitalize()
    several = len(experiment.runs) > 1
    return Section(
        experiment.name,
        str(title),
        str(declared.get("description") or _told(first)),
        _command(experiment.name, declared),
        tuple(run.scale for run in experiment.runs),
        _settings(declared),
        tuple(one for one in decided if experiment.name in one.experiments),
        tuple(one for run in experiment.runs for one in _cubes(run, several)),
        _figures(first, experiment.name, meaning),
        tuple(picture for run in rest for picture in _figures(run, experiment.name, meaning)),
        tuple(
            Picture(path, meaning(key or experiment.name), run.scale)
            for run in experiment.runs
            for key, path in run.moving.items()
        ),
        tuple(path.name for run in experiment.runs for path in run.documents.values()),
        _tables(first),
        tuple(table for run in rest for table in _tables(run)),
        tuple(path for run in experiment.runs for path in run.sounds),
        tuple(entry for run in experiment.runs for entry in _provenance(run)),
    )


def _command(name: str, declared: Mapping[str, Any]) -> str:
    if not declared:
        return f"stablessm {name}" if name in _TITLES else ""
    return f"stablessm {'run' if 'axes' in declared else 'train'} {name}"


def _told(run: Run) -> str:
    """Return a sentence about a training run, whose declaration has no description."""
    declared, about = run.declared, run.about
    if "data" not in declared:
        return str(about.get("summary", ""))
    model = declared.get("model", {})
    layers = ", ".join(model.get("layer", [])) if isinstance(model, Mapping) else ""
    parameters = f", {about['parameters']} parameters" if about.get("parameters") else ""
    ended = f"; it ended as {str(about['outcome']).replace('_', ' ')}" if about.get("outcome") else ""
    return f"A network of {layers} layers trained on {declared['data']}{parameters}{ended}."


def _settings(declared: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    axes = declared.get("axes", {})
    settings = declared.get("settings", {})
    both = {**(axes if isinstance(axes, Mapping) else {}), **(settings if isinstance(settings, Mapping) else {})}
    return tuple((key.replace("_", " "), _listed(value)) for key, value in both.items())


def _listed(value: Any) -> str:
    if isinstance(value, Mapping):
        if "label" in value or "name" in value:
            return str(value.get("label", value.get("name")))
        return ", ".join(f"{key} = {_listed(one)}" for key, one in value.items())
    if isinstance(value, list):
        shown = [_listed(one) for one in (value if len(value) <= 8 else [*value[:3], "…", value[-1]])]
        return ", ".join(shown) + (f" ({len(value)} values)" if len(value) > 8 else "")
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cubes(run: Run, several: bool) -> list[dict[str, Any]]:
    behind = f", {run.scale} scale" if several else ""
    named = {name.replace("_", " "): one for name, one in run.analyses.items()}
    reduced = [one for name, dataset in named.items() if (one := cube(dataset, f"{name}{behind}")) is not None]
    reduced.sort(key=lambda one: not one["dims"][one["variables"][0]["x"]]["numeric"])
    raw = None if run.raw is None else cube(run.raw, f"as measured{behind}")
    return reduced if raw is None else [*reduced, raw]


def _figures(run: Run, name: str, meaning: Callable[[str], str]) -> tuple[Picture, ...]:
    return tuple(Picture(path, meaning(key or name), run.scale) for key, path in run.figures.items())


def _tables(run: Run) -> tuple[Table, ...]:
    found = [
        table
        for name, one in run.analyses.items()
        for table in tables(one, f"{one.attrs.get('summary') or name} ({run.scale} scale)")
    ]
    if not found and run.raw is not None:
        found = tables(run.raw, f"As measured ({run.scale} scale)")
    return tuple(found)


def _provenance(run: Run) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    found = []
    for key, path in run.files.items():
        dataset = run.analyses[key] if key else run.raw
        about = {**(dataset.attrs if dataset is not None else {}), **({} if key else run.provenance)}
        pairs = [(name, str(about[name])) for name in _MADE_BY if about.get(name) not in (None, "", {})]
        checks = about.get("checks")
        pairs += [(f"checked {name}", str(one)) for name, one in (checks.items() if isinstance(checks, dict) else ())]
        packages = about.get("packages")
        if isinstance(packages, dict):
            pairs.append(("packages", ", ".join(f"{name} {version}" for name, version in packages.items())))
        found.append((path.name, tuple(pairs)))
    return found
