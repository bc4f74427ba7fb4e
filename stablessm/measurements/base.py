"""What a measurement is: a value that names its axes, its settings and the variables it returns.

A measurement declares everything a sweep needs to know before anything runs, so that a declaration can be checked and
a dataset laid out without computing. This module imports neither JAX nor NumPy; `Measurement.build` does, when called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Base of every measurement's settings: frozen, unknown keys refused, nan and inf refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def distinct(values: tuple) -> tuple:
    """Return the values of a setting, or refuse none of them and one that occurs twice; for `field_validator`."""
    if not values or len(set(values)) < len(values):
        raise ValueError("each value may occur once, at least one of them")
    return values


def ascending(values: tuple) -> tuple:
    """Return the values of a setting, or refuse none of them and an order other than ascending; likewise."""
    if not values or any(one >= two for one, two in pairwise(values)):
        raise ValueError("the values must ascend, at least one of them")
    return values


@dataclass(frozen=True)
class Variable:
    """One array a measurement returns for each cell.

    Attributes:
        long_name: what it is, as an axis label would say it.
        units: units, "1" where dimensionless.
        dims: dimensions of one cell's value, beyond the axes of the sweep (empty for a scalar).
        dtype: NumPy dtype name.
        flags: for an integer code, the meaning of 0, 1, 2, ...
    """

    long_name: str
    units: str = "1"
    dims: tuple[str, ...] = ()
    dtype: str = "float32"
    flags: tuple[str, ...] = ()

    def of(self, *dims: str) -> Variable:
        """Return the variable with more dimensions before its own."""
        return replace(self, dims=(*dims, *self.dims))


class Program(NamedTuple):
    """A measurement made ready for one combination of static axes.

    Attributes:
        coordinates: inner dimension name -> its coordinate values (NumPy array); gives the sizes too.
        start: seed (uint32 scalar) -> pytree; everything of a run that depends on the seed and NOT on the map: initial
            weights other than the recurrent ones, keys, precomputed data. Jitted and vmapped by the runner, hashed
            there, so that equal starts across maps are asserted and not hoped for.
        measure: (traced, starts, index, *shared) -> {variable: array}. `traced` holds one scalar per traced axis;
            `starts` is the stack of the starts of the distinct seeds in the work item; `index` picks this cell's. Pure,
            jittable, vmappable over `traced` and `index` with `starts` shared.
        shared: arrays every cell reads, such as images. As arguments they are stored once; closed over, they would be
            constants of every compiled program.
    """

    coordinates: Mapping[str, Any]
    start: Callable[[Any], Any]
    measure: Callable[..., Mapping[str, Any]]
    shared: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """A named measurement.

    Attributes:
        name: the key used in declarations.
        summary: one line for `stablessm list measurements`.
        reference: where it is defined.
        axes: names of the axes it understands -> default values; None where the declaration must give values.
        settings: pydantic model of its settings.
        variables: settings -> {name: Variable}.
        program: "module:function" of (static, settings) -> Program; imported when called, so that listing stays light.
        joins_maps: whether the map may be a `Family`, so that one compiled program serves several: the program asks of
            it nothing but its link and what `Views` has.
        trains_networks: whether a work item may take hours, so that an estimate compiles it and does not run it.
    """

    name: str
    summary: str
    reference: str
    axes: Mapping[str, tuple[Any, ...] | None]
    settings: type[Settings]
    variables: Callable[[Any], Mapping[str, Variable]]
    program: str = field(repr=False)
    joins_maps: bool = False
    trains_networks: bool = False

    def build(self, static: Mapping[str, Any], settings: Settings) -> Program:
        """Return the `Program` for one combination of static axes (maps are `Parameterization` records)."""
        module, function = self.program.split(":")
        return getattr(import_module(module), function)(static, settings)


def constants_of(traced: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants among the traced axes: `constant_b` is the constant `b`."""
    prefix = "constant_"
    return {name.removeprefix(prefix): value for name, value in traced.items() if name.startswith(prefix)}
