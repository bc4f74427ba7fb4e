"""Maps side by side by every criterion, and which is best in which sense: from a dataset of `certificates`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from stablessm.design.errors import DesignError
from stablessm.design.published import PERPLEXITY, SOURCE

_NEEDS = ("verdict", "modulus", "modulus_slope", "gradient_scale", "gradient_over_weight", "stable_step",
          "largest_gradient_over_weight", "lipschitz_constant", "smallest_stable_step")  # fmt: skip
_BETAS = (0.1, 1.0, 10.0)
_MEMORIES = (10.0, 1000.0)
_SAME = 1e-4
"""Relative distance up to which two maps share a first place; enclosures of suprema are narrower than that."""


@dataclass(frozen=True)
class Criterion:
    """A column.

    Attributes:
        name: its key.
        meaning: what it is, in words.
        values: one number for each map; infinite or 0 where a bound is refuted, NaN where nothing is known.
        sense: 1 where less is better, -1 where more is.
        stable: which maps are proved stable for every weight; only these can be best.
        open: which maps are proved to have a finite value that is not known; beside one of them none is called best.
    """

    name: str
    meaning: str
    values: tuple[float, ...]
    sense: int = 1
    stable: tuple[bool, ...] = ()
    open: tuple[bool, ...] = ()

    def first(self) -> list[int]:
        """Places of the best maps; none where no value is finite, or one that may be better is not known."""
        sized = self.sense * np.asarray(self.values)
        known = np.isfinite(sized) & ~((self.sense < 0) & (sized == 0)) & np.asarray(self.stable or True)
        if not known.any() or any(self.open):
            return []
        least = sized[known].min()
        return [int(place) for place in np.flatnonzero(known & (sized <= least + _SAME * abs(least)))]


@dataclass(frozen=True)
class Comparison:
    """The table.

    Attributes:
        link: of all maps.
        maps: their labels.
        formulas: their decays, as text.
        verdicts: of "stability", "modulus", "gradient_over_weight", "lipschitz" and "curvature", by map.
        criteria: the columns.
        summary: which map is best in which sense, a sentence each.
    """

    link: str
    maps: tuple[str, ...]
    formulas: tuple[str, ...]
    verdicts: tuple[dict[str, str], ...]
    criteria: tuple[Criterion, ...]
    summary: tuple[str, ...]


def compare(dataset: xr.Dataset) -> list[Comparison]:
    """Return the table of each link of a dataset of the measurement `certificates`.

    Args:
        dataset: what a sweep of it returned.

    Raises:
        DesignError: the dataset is of another measurement, or none of its maps is done.
    """
    missing = [name for name in _NEEDS if name not in dataset]
    if missing:
        raise DesignError(f"the dataset holds no {', '.join(missing)}: it is not of the measurement certificates.")
    if "link" in dataset.dims:
        return [_compared(dataset.sel(link=link), str(link)) for link in dataset["link"].values]
    links = np.broadcast_to(dataset["link"].values, dataset.sizes["parameterization"])
    return [_compared(dataset.isel(parameterization=links == link), str(link)) for link in dict.fromkeys(links)]


def _compared(data: xr.Dataset, link: str) -> Comparison:
    done = data["status"].values == 1 if "status" in data else np.ones(data.sizes["parameterization"], bool)
    data = data.isel(parameterization=np.flatnonzero(done))
    if not data.sizes["parameterization"]:
        raise DesignError("the dataset holds no map that is done.")
    maps = tuple(map(str, data["parameterization"].values))
    words = str(data["verdict"].attrs["flag_meanings"]).split()
    statements = list(map(str, data["statement"].values))
    verdicts = tuple(
        {one: words[code] for one, code in zip(statements, row, strict=True)}
        for row in data["verdict"].transpose("parameterization", "statement").values.tolist()
    )
    criteria = tuple(_criteria(data, maps, verdicts))
    formulas = tuple(map(str, data["formula"].values)) if "formula" in data.coords else ("",) * len(maps)
    return Comparison(link, maps, formulas, verdicts, criteria, tuple(_summary(data, maps, verdicts, criteria)))


def _criteria(data: xr.Dataset, maps: Sequence[str], verdicts: Sequence[dict[str, str]]) -> list[Criterion]:
    stable = tuple(one["stability"] == "proved" for one in verdicts)

    def column(name: str, meaning: str, values: xr.DataArray, sense: int = 1, bound_by: str = "") -> Criterion:
        numbers = tuple(float(value) for value in values.values)
        proved = [bound_by != "" and one[bound_by] == "proved" for one in verdicts]
        open_ = tuple(is_bounded and math.isnan(value) for is_bounded, value in zip(proved, numbers, strict=True))
        return Criterion(name, meaning, numbers, sense, stable, open_)

    found = [column("g_slope", "slope of the modulus g at 0", data["modulus_slope"], bound_by="modulus")]
    for name, beta in _near(data["beta"], _BETAS):
        at = data["modulus"].sel(beta=beta)
        found.append(column(f"g({name})", f"modulus g at beta = {name}", at, bound_by="modulus"))
    for name, length in _near(data["memory_length"], _MEMORIES):
        at = data.sel(memory_length=length)
        found.append(column(f"scale({name})", f"gradient scale at memory length {name}", at["gradient_scale"]))
        found.append(column(f"over_weight({name})", f"the same over the weight, {name}", at["gradient_over_weight"]))
        found.append(column(f"step({name})", f"largest stable step, {name}", at["stable_step"], -1))
    for name, meaning, variable, sense, statement in (
        (
            "over_weight",
            "largest gradient scale over weight",
            "largest_gradient_over_weight",
            1,
            "gradient_over_weight",
        ),
        ("lipschitz", "largest |tau''|, Eq. 11", "lipschitz_constant", 1, "lipschitz"),
        ("step", "smallest of the largest stable steps", "smallest_stable_step", -1, "curvature"),
    ):
        found.append(column(name, meaning, data[variable], sense, statement))
    if any(name in PERPLEXITY for name in maps) and str(data["link"].values.flat[0]) == "continuous":
        for place, part in enumerate(("train", "test")):
            values = [PERPLEXITY[name][place] if name in PERPLEXITY else np.nan for name in maps]
            found.append(Criterion(f"{part}_ppl", f"published {part} perplexity", tuple(values), stable=stable))
    return found


def _near(coordinate: xr.DataArray, wanted: Sequence[float]) -> list[tuple[str, float]]:
    """Points of a grid nearest to round numbers that lie on it, with their names."""
    nearest = [(one, float(coordinate.values[np.abs(np.log(coordinate.values / one)).argmin()])) for one in wanted]
    return [(f"{float(f'{value:.3g}'):g}", value) for one, value in nearest if abs(np.log(value / one)) < 0.1]


def _summary(
    data: xr.Dataset, maps: Sequence[str], verdicts: Sequence[dict], criteria: Sequence[Criterion]
) -> Iterator[str]:
    columns = {one.name: one for one in criteria}

    def places(name: str, text: Callable[[float], str] = lambda value: f"{value:.4g}") -> str:
        one = columns[name]
        order = sorted((one.sense * value, label) for value, label in zip(one.values, maps, strict=True)
                       if np.isfinite(value) and not (one.sense < 0 and value == 0))  # fmt: skip
        said = [f"{label} {text(one.sense * value)}" for value, label in order]
        said += [f"{label} (not in closed form)" for label, is_open in zip(maps, one.open, strict=False) if is_open]
        return ", ".join(said) or "no map"

    unstable = [label for label, one in zip(maps, verdicts, strict=True) if one["stability"] != "proved"]
    if unstable:
        yield f"Not stable for every weight: {', '.join(unstable)}."
    yield f"Smallest modulus for small perturbations (slope of g at 0): {places('g_slope')}."
    yield from _crossings(data, maps)
    yield f"Gradient over weight bounded: {places('over_weight')}; gradient Lipschitz (Eq. 11): {places('lipschitz')}."
    yield f"One stable step for every memory length: {places('step')}."
    if "test_ppl" in columns:
        yield (
            f"Published test perplexity (less is better): {places('test_ppl', '{:.3f}'.format)}; train: "
            f"{places('train_ppl', '{:.3f}'.format)} ({SOURCE})."
        )


def _crossings(data: xr.Dataset, maps: Sequence[str]) -> Iterator[str]:
    """Where the map with the smallest g at the smallest beta loses the first place, and to which."""
    beta, curves = data["beta"].values, data["modulus"].transpose("parameterization", "beta").values
    if np.isnan(curves).any() or not np.isfinite(curves).any(axis=0).all():
        return  # a modulus that is not known may be the smallest
    known = curves
    first = known.argmin(axis=0)
    for place in np.flatnonzero(np.diff(first)):
        old, new = first[place], first[place + 1]
        if abs(known[old, -1] - known[new, -1]) <= _SAME * known[old, -1]:
            continue  # the same curve, apart by rounding
        gaps = np.log(known[new, place : place + 2] / known[old, place : place + 2])
        share = gaps[0] / (gaps[0] - gaps[1])
        at = float(np.exp(np.interp(share, [0, 1], np.log(beta[place : place + 2]))))
        yield f"From beta = {at:.3g} on {maps[new]} has a smaller modulus than {maps[old]}."
