"""From a spec to work: static combinations looped, the traced grid flattened into work items of equal size.

Cells of one static combination are counted in the order of the traced axes, the last axis fastest. Work item k of a
combination holds cells k * chunk to (k + 1) * chunk; the last is filled up by repeating the last cell, so that every
work item has the same shapes and a combination compiles once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

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


@dataclass(frozen=True)
class Plan:
    """The work of a sweep.

    Attributes:
        spec: what it carries out.
    """

    spec: Spec

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

    @property
    def items_per_combination(self) -> int:
        """Work items of one static combination."""
        return -(-self.cells_per_combination // self.spec.chunk)

    @property
    def items(self) -> int:
        """Work items of the sweep."""
        return len(self.combinations) * self.items_per_combination

    @property
    def compiles(self) -> int:
        """Programs to compile: one a static combination."""
        return len(self.combinations)

    @cached_property
    def starts(self) -> int:
        """Distinct seeds a work item has at most."""
        seeds = self.spec.traced_axes.get("seed", (0,))
        inner = self.cells_per_combination // len(seeds)
        chunk, last = self.spec.chunk, self.cells_per_combination - 1
        firsts = np.arange(self.items_per_combination) * chunk
        return int(np.max(np.minimum(firsts + chunk - 1, last) // inner - firsts // inner)) + 1

    def precision(self, combination: int) -> str:
        """Return the precision of a static combination, float32 unless it is an axis."""
        return self.combinations[combination].get("precision", "float32")

    def static(self, combination: int) -> dict[str, Any]:
        """Return the static values a measurement is built with.

        Maps and targets are records, maps under the link of the `link` axis. `fillings` holds the map with every
        combination of the swept constants it has, so that a program can refuse some of them before anything runs.
        """
        values = self.combinations[combination]
        static = {
            name: value.record(values.get("link")) if isinstance(value, Entry) else _record(name, value)
            for name, value in values.items()
        }
        if "parameterization" in static:
            swept = self._swept_constants(combination)
            corners = itertools.product(*(self.spec.axes[name] for name in swept.values()))
            static["fillings"] = tuple(
                static["parameterization"].replace(constants=dict(zip(swept, corner, strict=True)))
                for corner in corners
            )
        return static

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
        return min(self.spec.chunk, self.cells_per_combination - number % self.items_per_combination * self.spec.chunk)

    def item(self, number: int) -> WorkItem:
        """Return one work item.

        Args:
            number: from 0 to `items` - 1.
        """
        combination, place = divmod(number, self.items_per_combination)
        first = place * self.spec.chunk
        cells = np.minimum(first + np.arange(self.spec.chunk), self.cells_per_combination - 1)
        places = np.unravel_index(cells, self.traced_shape) if self.traced_shape else ()
        traced, of_seed = {}, np.zeros(self.spec.chunk, np.int64)
        strange = {name for name in self.spec.traced_axes if name.startswith("constant_")}
        strange -= set(self._swept_constants(combination).values())
        for (name, values), where in zip(self.spec.traced_axes.items(), places, strict=True):
            kind = np.uint32 if AXES[name].kind == "integer" else np.dtype(self.precision(combination))
            traced[name] = np.asarray(values, np.uint32 if kind is np.uint32 else np.float64)[where].astype(kind)
            of_seed = where if name == "seed" else of_seed
        traced = {name: values for name, values in traced.items() if name not in strange}
        distinct = np.asarray(self.spec.traced_axes.get("seed", (0,)), np.uint32)
        picked = np.minimum(of_seed[0] + np.arange(self.starts), of_seed[-1])
        index = (of_seed - of_seed[0]).astype(np.int32)
        return WorkItem(number, combination, self.valid(number), traced, distinct[picked], index)


def _record(name: str, value: Any) -> Any:
    """Return a built-in target for its name; every other value stands for itself."""
    if name != "target":
        return value
    from stablessm.targets import TARGETS

    return TARGETS[value]
