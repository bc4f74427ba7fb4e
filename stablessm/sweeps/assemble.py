"""From a store to the dataset: reshaped, labelled, and held to the laws every sweep asserts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stablessm import datasets
from stablessm.measurements.base import Measurement, Variable
from stablessm.netcdf import BLOCK
from stablessm.sweeps.axes import AXES, DIMENSIONS
from stablessm.sweeps.errors import SweepError
from stablessm.sweeps.layout import DONE, PENDING, STATUS, Layout, fill_value
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.results import Results
from stablessm.sweeps.store import Store

if TYPE_CHECKING:
    import xarray as xr

TOLERANCE = 1e-5
_MAPS = ("parameterization", "link")


class Assembled(NamedTuple):
    """A dataset whose values are read from the store when they are wanted; `save` writes it.

    Attributes:
        dataset: its coordinates and attributes; of its data variables only shape, dtype and attributes count.
        results: where their values come from.
    """

    dataset: xr.Dataset
    results: Results

    def save(self, path: Path) -> None:
        """Write it a block at a time, so that memory does not grow with the number of cells.

        Raises:
            StoreError: a damaged store.
            DatasetError, DatasetWriteError: as `datasets.save`.
        """
        datasets.save(self.dataset, path, read=self.results.region)

    @property
    def done(self) -> int:
        """How many cells are done."""
        return int((self.results.status == DONE).sum())


def assemble(plan: Plan, store: Store, measurement: Measurement) -> Assembled:
    """Return the dataset of a sweep; nothing in it varies from run to run.

    Args:
        plan: the work.
        store: its results; cells not done hold fill values.
        measurement: what was measured.

    Returns:
        Dimensions: static axes, traced axes, inner dimensions; an axis of one value stays a dimension.

    Raises:
        StoreError: a damaged store.
        SweepError: starts or initial eigenvalues differ across maps.
    """
    import xarray as xr

    spec, layout, results = plan.spec, store.layout, Results(plan, store)
    names = tuple(spec.axes)
    data = {}
    for name, variable in layout.variables.items():
        about, fill = _attributes(variable), fill_value(variable.dtype)
        if variable.flags and any((block == fill).any() for block in _blocks(results, plan, name, layout)):
            about["flag_values"] = np.append(about["flag_values"], fill).astype(variable.dtype)
            about["flag_meanings"] += " not_computed"
        shape = (*plan.shape, *layout.shape(name))
        data[name] = (names + variable.dims, np.broadcast_to(np.array(fill, variable.dtype), shape), about)
    data["status"] = (names, np.broadcast_to(np.int8(PENDING), plan.shape), _attributes(STATUS))
    dataset = xr.Dataset(data, coords=_coordinates(plan, store))
    dataset.attrs = {
        "name": spec.name,
        "title": spec.title,
        "measurement": spec.measurement,
        "summary": measurement.summary,
        "reference": measurement.reference,
        "scale": spec.scale,
        "chunk": spec.chunk,
        "version": _version(),
        "spec": spec.to_json(),
    }
    dataset.attrs["checks"] = {**_check_starts(plan, results, layout), **_check_eigenvalues(plan, results, layout)}
    return Assembled(dataset, results)


def _blocks(results: Results, plan: Plan, name: str, layout: Layout) -> Iterator[np.ndarray]:
    step = max(1, BLOCK // max(1, layout.bytes_of(name)))
    return (results.cells(name, first, min(first + step, plan.cells)) for first in range(0, plan.cells, step))


def _coordinates(plan: Plan, store: Store) -> dict[str, Any]:
    spec = plan.spec
    coordinates: dict[str, Any] = {}
    for name, values in spec.coordinates().items():
        about = {"long_name": AXES[name].long_name, "units": AXES[name].units}
        coordinates[name] = (name, np.asarray(values), about)
    for name, values in store.layout.coordinates.items():
        long_name, units = DIMENSIONS.get(name, (name.replace("_", " "), "1"))
        coordinates[name] = (name, values, {"long_name": long_name, "units": units})
    entries = spec.axes.get("parameterization", ())
    if "link" in spec.axes:
        formulas = [[entry.record(link).formula for link in spec.axes["link"]] for entry in entries]
        coordinates["formula"] = (_MAPS, np.asarray(formulas), {"long_name": "decay s(w)", "units": "1"})
    elif entries:
        text = {"formula": "decay s(w)", "link": "link"}
        for name, long_name in text.items():
            values = np.asarray([getattr(entry, name) for entry in entries])
            coordinates[name] = ("parameterization", values, {"long_name": long_name, "units": "1"})
    return coordinates


def _attributes(variable: Variable) -> dict[str, Any]:
    about: dict[str, Any] = {"long_name": variable.long_name, "units": variable.units}
    if variable.flags:
        about["flag_values"] = np.arange(len(variable.flags), dtype=variable.dtype)
        about["flag_meanings"] = " ".join(variable.flags)
    return about


def _by_map(plan: Plan, results: Results, layout: Layout, name: str) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield a variable a block at a time for all maps and links, which lead the axes: (maps, block, *inner).

    With each comes the place of the block among the cells of one map.
    """
    maps = math.prod(len(plan.spec.axes[axis]) for axis in _MAPS if axis in plan.spec.axes)
    rest = plan.cells // maps
    step = max(1, BLOCK // max(1, maps * layout.bytes_of(name)))
    for first in range(0, rest, step):
        here = slice(first, min(first + step, rest))
        each = [results.cells(name, one * rest + here.start, one * rest + here.stop) for one in range(maps)]
        yield here, np.stack(each)


def _check_starts(plan: Plan, results: Results, layout: Layout) -> dict[str, str]:
    """Assert that for each seed, whatever the map and its link, a run starts from the same bytes."""
    maps = tuple(name for name in _MAPS if name in plan.spec.axes)
    if "start_hash" not in layout.variables or not maps:
        return {}
    others = [name for name in plan.spec.axes if name not in maps]
    shape = [len(plan.spec.axes[name]) for name in others]
    status = results.status.reshape(-1, math.prod(shape))
    for here, hashes in _by_map(plan, results, layout, "start_hash"):
        done = status[:, here] == DONE
        least = np.where(done, hashes, np.uint64(2**64 - 1)).min(0)
        apart = (least != np.where(done, hashes, np.uint64(0)).max(0)) & done.any(0)
        if apart.any():
            where = dict(zip(others, np.unravel_index(here.start + int(apart.argmax()), shape), strict=True))
            seed = plan.spec.axes["seed"][where["seed"]]
            raise SweepError(
                f"the starts of seed {seed} differ across maps (start_hash); runs would not be comparable."
            )
    return {"start_hash": f"equal across {' and '.join(maps)} for each seed"}


def _check_eigenvalues(plan: Plan, results: Results, layout: Layout) -> dict[str, str]:
    """Assert that all maps of one kind of time start from the same eigenvalues."""
    maps = tuple(name for name in _MAPS if name in plan.spec.axes)
    if "initial_eigenvalue" not in layout.variables or not maps:
        return {}
    links = [entry.link for entry in plan.spec.axes.get("parameterization", ())]
    if "link" in maps:
        links = [link for _ in range(max(1, len(links))) for link in plan.spec.axes["link"]]
    continuous = np.array([link == "continuous" for link in links])
    for _, stacked in _by_map(plan, results, layout, "initial_eigenvalue"):
        for kind in (continuous, ~continuous):
            values = stacked[kind]
            for part in (values.real, values.imag) if np.iscomplexobj(values) else (values,):
                if not len(part):
                    continue
                gap = np.fmax.reduce(part) - np.fmin.reduce(part)
                bad = gap > TOLERANCE * np.fmax.reduce(np.abs(values))
                if bad.any():
                    raise SweepError(
                        f"the initial eigenvalues differ across maps by up to {np.max(gap[bad]):.3g} "
                        f"(tolerance {TOLERANCE:g} relative); runs would not be comparable."
                    )
    return {"initial_eigenvalue": f"equal across {' and '.join(maps)} within {TOLERANCE:g} relative"}


def _version() -> str:
    try:
        return version("stablessm")
    except PackageNotFoundError:
        return "unknown"
