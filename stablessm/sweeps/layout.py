"""What a sweep's store and dataset hold: the variables with their dtypes, fill values and inner dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stablessm.measurements.base import Variable
from stablessm.sweeps.errors import SweepError

if TYPE_CHECKING:
    from stablessm.sweeps.spec import Spec

STATUS = Variable("status of the cell", dtype="int8", flags=("pending", "done", "failed"))
PENDING, DONE, FAILED = range(3)
START_HASH = Variable("hash of everything the start holds but the map", dtype="uint64")
_WIDER = {"float32": "float64", "complex64": "complex128"}


@dataclass(frozen=True)
class Layout:
    """The arrays of a sweep.

    Attributes:
        variables: what each cell returns, `start_hash` included where there is a seed.
        coordinates: values of the inner dimensions.
    """

    variables: Mapping[str, Variable]
    coordinates: Mapping[str, np.ndarray]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of one cell's value."""
        return tuple(len(self.coordinates[dimension]) for dimension in self.variables[name].dims)

    def bytes_of(self, name: str) -> int:
        """Return the bytes of one cell's value."""
        return np.dtype(self.variables[name].dtype).itemsize * math.prod(self.shape(name))

    @property
    def cell_bytes(self) -> int:
        """Bytes of one cell's values and its status."""
        return 1 + sum(map(self.bytes_of, self.variables))

    def blank(self, name: str, cells: int) -> np.ndarray:
        """Return an array of fill values, of shape (cells, *shape(name))."""
        return np.full((cells, *self.shape(name)), fill_value(self.variables[name].dtype), self.variables[name].dtype)


def fill_value(dtype: str) -> Any:
    """Return what stands for "not computed": NaN, -1, the largest unsigned number, or False."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return float("nan")
    if kind.kind == "c":
        return complex(float("nan"), float("nan"))
    return False if kind.kind == "b" else -1 if kind.kind == "i" else int(np.iinfo(kind).max)


def variables_of(spec: Spec, declared: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables a sweep stores: those of the measurement and `start_hash`.

    All are held in double precision where any cell is computed in it.

    Args:
        spec: the sweep.
        declared: what the measurement returns for each cell.

    Raises:
        SweepError: a variable has an axis of the sweep as its own dimension, or a name the sweep needs.
    """
    for name, one in declared.items():
        for dimension in one.dims:
            if dimension in spec.axes:
                raise SweepError(
                    f"the variable '{name}' has the dimension '{dimension}', which is an axis of the sweep."
                )
        if name in ("status", "start_hash", *spec.axes):
            raise SweepError(f"a measurement cannot return a variable named '{name}'; the sweep has its own.")
    wide = "float64" in spec.axes.get("precision", ())
    variables = {
        name: replace(one, dtype=_WIDER.get(one.dtype, one.dtype) if wide else one.dtype)
        for name, one in declared.items()
    }
    return {**variables, "start_hash": START_HASH} if "seed" in spec.axes else variables


def join_coordinates(programs: Sequence[Mapping[str, Any]], variables: Mapping[str, Variable]) -> dict[str, np.ndarray]:
    """Return the inner coordinates all static combinations share: of each dimension, the longest.

    A combination may have fewer points along a dimension (fewer states at a smaller width); the rest of its arrays
    stays at the fill value.

    Args:
        programs: the coordinates of each program.
        variables: the variables, whose inner dimensions must all have coordinates.

    Raises:
        SweepError: two combinations disagree on more than the length, or a dimension has no coordinate.
    """
    joined: dict[str, np.ndarray] = {}
    for coordinates in programs:
        for dimension, values in coordinates.items():
            values = np.asarray(values)
            known = joined.setdefault(dimension, values)
            shared = min(len(known), len(values))
            if not np.array_equal(known[:shared], values[:shared]):
                raise SweepError(f"two static combinations disagree on the coordinate '{dimension}' of their results.")
            joined[dimension] = values if len(values) > len(known) else known
    used = {dimension for variable in variables.values() for dimension in variable.dims}
    missing = sorted(used - joined.keys())
    if missing:
        raise SweepError(f"the measurement gives no coordinate for its dimension '{missing[0]}'.")
    return {dimension: joined[dimension] for dimension in sorted(used)}
