"""From a spec to work: static combinations looped, the traced grid flattened into work items of equal size.

Cells of one static combination are counted in the order of the traced axes, the last axis fastest. Work items take
`chunk` of them one after another; the last is filled up by repeating the last cell, so that every work item has the
same shapes and a combination compiles once.

A sweep may have grown: its axes were shorter before. Then the cells of the grid it had at first come first, in the work
items they had then, and behind them those that each longer grid has added. So what is done stays where it is.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from stablessm.parameterizations.family import Family
from stablessm.sweeps.axes import AXES
from stablessm.sweeps.entries import Entry
from stablessm.sweeps.spec import Spec


@dataclass(frozen=True)
class WorkItem:
    """One unit of work: `chunk` cells of one static combination.

    Attributes:
        number: its place in the store; cells number * chunk onwards are its own.
        combination: index of its static combination.
        valid: how many of its cells are not padding.
        traced: axis -> values, each of shape (chunk,); of the constants, those the map has.
        seeds: its distinct seeds, uint32 of shape (starts,); the last one repeated where there are fewer.
        index: place of each cell's seed in `seeds`, int32 of shape (chunk,).
    """

    number: int
    combination: int
    valid: int
    traced: Mapping[str, np.ndarray]
    seeds: np.ndarray
    index: np.ndarray


class Run(NamedTuple):
    """Cells of one static combination that are computed one after another.

    Attributes:
        combination: index of the static combination.
        cells: their places in its traced grid.
        first: number of the first of their work items.
    """

    combination: int
    cells: Sequence[int] | np.ndarray
    first: int


Grid = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Plan:
    """The work of a sweep.

    Attributes:
        spec: what it carries out.
        earlier: the grids it has grown from, the oldest first: of each axis the places of its values then among those
            of now.
    """

    spec: Spec
    earlier: tuple[Grid, ...] = ()

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All of the work, in the order of the work items.

        Raises:
            ValueError: an earlier grid that is none of this sweep.
        """
        if not self.earlier:
            every = range(self.cells_per_combination)
            items = -(-len(every) // self.spec.chunk)
            return tuple(Run(number, every, number * items) for number in range(len(self.combinations)))
        runs, first = [], 0
        seen = np.zeros((len(self.combinations), self.cells_per_combination), bool)
        for grid in (*self.earlier, {name: range(len(values)) for name, values in self.spec.axes.items()}):
            _check_grid(grid, self.spec)
            static = [grid[name] for name in self.spec.static_axes]
            shape = tuple(len(values) for values in self.spec.static_axes.values())
            cells = _flat([grid[name] for name in self.spec.traced_axes], self.traced_shape)
            for combination in _flat(static, shape).tolist():
                new = cells[~seen[combination, cells]]
                if len(new):
                    seen[combination, new] = True
                    runs.append(Run(combination, new, first))
                    first += -(-len(new) // self.spec.chunk)
        return tuple(runs)

    @cached_property
    def _firsts(self) -> list[int]:
        return [run.first for run in self.runs]

    def _run(self, number: int) -> Run:
        return self.runs[bisect_right(self._firsts, number) - 1]

    def combination(self, number: int) -> int:
        """Return the static combination of a work item."""
        return self._run(number).combination

    @cached_property
    def numbers(self) -> dict[int, list[int]]:
        """The numbers of the work items of every static combination."""
        numbers: dict[int, list[int]] = {}
        for run in self.runs:
            last = run.first - (-len(run.cells) // self.spec.chunk)
            numbers.setdefault(run.combination, []).extend(range(run.first, last))
        return numbers

    @cached_property
    def rows(self) -> np.ndarray:
        """The cell that lies in each row of the store, counted over the whole grid; -1 for padding."""
        rows = np.full(self.items * self.spec.chunk, -1, np.int64)
        for run in self.runs:
            start = run.first * self.spec.chunk
            rows[start : start + len(run.cells)] = run.combination * self.cells_per_combination + np.asarray(run.cells)
        return rows

    @cached_property
    def combinations(self) -> tuple[dict[str, Any], ...]:
        """Every combination of the static axes, the last axis fastest; maps and a user's targets as entries."""
        names = tuple(self.spec.static_axes)
        return tuple(
            dict(zip(names, values, strict=True)) for values in itertools.product(*self.spec.static_axes.values())
        )

    @cached_property
    def traced_shape(self) -> tuple[int, ...]:
        """Sizes of the traced axes."""
        return tuple(len(values) for values in self.spec.traced_axes.values())

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of all axes."""
        return tuple(len(values) for values in self.spec.axes.values())

    @property
    def cells_per_combination(self) -> int:
        """Cells of one static combination, without padding."""
        return math.prod(self.traced_shape)

    @property
    def cells(self) -> int:
        """Cells of the sweep, without padding."""
        return len(self.combinations) * self.cells_per_combination

    @cached_property
    def items(self) -> int:
        """Work items of the sweep."""
        return self.runs[-1].first - (-len(self.runs[-1].cells) // self.spec.chunk)

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """The static combinations in groups whose members differ in the map alone, all their maps under one link."""
        names = tuple(self.spec.static_axes)
        groups: dict[tuple[Any, ...], list[int]] = {}
        for combination, places in enumerate(np.ndindex(*(len(values) for values in self.spec.static_axes.values()))):
            entry = self.combinations[combination].get("parameterization")
            others = (place for name, place in zip(names, places, strict=True) if name != "parameterization")
            groups.setdefault((entry and entry.link, *others), []).append(combination)
        return tuple(map(tuple, groups.values()))

    @cached_property
    def starts(self) -> int:
        """Distinct seeds a work item has at most."""
        seeds = self.spec.traced_axes.get("seed", (0,))
        inner, chunk = self.cells_per_combination // len(seeds), self.spec.chunk
        if self.earlier:
            return max(len(np.unique(self._cells(number) // inner)) for number in range(self.items))
        last = self.cells_per_combination - 1
        firsts = np.arange(0, last + 1, chunk)
        return int(np.max(np.minimum(firsts + chunk - 1, last) // inner - firsts // inner)) + 1

    def precision(self, combination: int) -> str:
        """Return the precision of a static combination, float32 unless it is an axis."""
        return self.combinations[combination].get("precision", "float32")

    def static(self, combination: int) -> dict[str, Any]:
        """Return the static values a measurement is built with.

        Maps and targets are records, maps under the link of the `link` axis. `fillings` holds, for the one map there
        is, a tuple of it with every combination of the swept constants it has, so that a program can refuse some of
        them before anything runs.
        """
        values = self.combinations[combination]
        static = {
            name: value.record(values.get("link")) if isinstance(value, Entry) else _record(name, value)
            for name, value in values.items()
        }
        if "parameterization" in static:
            swept = self._swept_constants(combination)
            corners = itertools.product(*(self.spec.axes[name] for name in swept.values()))
            fillings = tuple(
                static["parameterization"].replace(constants=dict(zip(swept, corner, strict=True)))
                for corner in corners
            )
            static["fillings"] = (fillings,)
        return static

    def joint(self, combinations: Sequence[int]) -> dict[str, Any]:
        """Return the static values of combinations that differ in the map alone: the maps as a `Family`."""
        every = [self.static(one) for one in combinations]
        family = Family(tuple(one["parameterization"] for one in every))
        fillings = tuple(one["fillings"][0] for one in every)
        return {**every[0], "parameterization": family, "fillings": fillings}

    def _swept_constants(self, combination: int) -> dict[str, str]:
        """Return the constants of the combination's map that are axes: the constant's name -> the axis."""
        entry = self.combinations[combination].get("parameterization")
        return {} if entry is None else self._swept_by_map[entry.label]

    @cached_property
    def _swept_by_map(self) -> dict[str, dict[str, str]]:
        swept = {name.removeprefix("constant_"): name for name in self.spec.axes if name.startswith("constant_")}
        entries = self.spec.axes["parameterization"]
        known = {entry.label: entry.record().constant_names if swept else () for entry in entries}
        return {label: {name: swept[name] for name in names if name in swept} for label, names in known.items()}

    def valid(self, number: int) -> int:
        """Return how many cells of a work item are not padding."""
        run = self._run(number)
        return min(self.spec.chunk, len(run.cells) - (number - run.first) * self.spec.chunk)

    def _cells(self, number: int) -> np.ndarray:
        """Return the cells of a work item, the last one repeated to fill it up."""
        run = self._run(number)
        first = (number - run.first) * self.spec.chunk
        places = np.minimum(first + np.arange(self.spec.chunk), len(run.cells) - 1)
        return places if isinstance(run.cells, range) else np.asarray(run.cells)[places]

    def item(self, number: int) -> WorkItem:
        """Return one work item.

        Args:
            number: from 0 to `items` - 1.
        """
        combination, cells = self.combination(number), self._cells(number)
        places = np.unravel_index(cells, self.traced_shape) if self.traced_shape else ()
        traced, of_seed = {}, np.zeros(self.spec.chunk, np.int64)
        strange = {name for name in self.spec.traced_axes if name.startswith("constant_")}
        strange -= set(self._swept_constants(combination).values())
        for (name, values), where in zip(self.spec.traced_axes.items(), places, strict=True):
            kind = np.uint32 if AXES[name].kind == "integer" else np.dtype(self.precision(combination))
            traced[name] = np.asarray(values, np.uint32 if kind is np.uint32 else np.float64)[where].astype(kind)
            of_seed = where if name == "seed" else of_seed
        traced = {name: values for name, values in traced.items() if name not in strange}
        seeds = np.asarray(self.spec.traced_axes.get("seed", (0,)), np.uint32)
        distinct, index = np.unique(of_seed, return_inverse=True)
        picked = distinct[np.minimum(np.arange(self.starts), len(distinct) - 1)]
        return WorkItem(number, combination, self.valid(number), traced, seeds[picked], index.astype(np.int32))


def _flat(places: Sequence[Sequence[int]], shape: tuple[int, ...]) -> np.ndarray:
    """Return the flat indices of a product of places in an array of a shape, the last axis fastest."""
    if not shape:
        return np.zeros(1, np.int64)
    return np.ravel_multi_index(np.meshgrid(*map(np.asarray, places), indexing="ij"), shape).reshape(-1)


def _check_grid(grid: Grid, spec: Spec) -> None:
    for name, values in spec.axes.items():
        places = grid.get(name, ())
        if len(grid) != len(spec.axes) or not places or len(set(places)) < len(places):
            raise ValueError("an earlier grid is none of this sweep")
        if not all(isinstance(place, int) and 0 <= place < len(values) for place in places):
            raise ValueError(f"an earlier grid has a value of {name} that is none of this sweep")


def _record(name: str, value: Any) -> Any:
    """Return a built-in target for its name; every other value stands for itself."""
    if name != "target":
        return value
    from stablessm.targets import TARGETS

    return TARGETS[value]
