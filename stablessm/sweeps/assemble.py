"""From a store to the dataset: reshaped, labelled, and held to the laws every sweep asserts."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import xarray as xr

from stablessm.measurements.base import Measurement, Variable
from stablessm.sweeps.axes import AXES, DIMENSIONS
from stablessm.sweeps.errors import SweepError
from stablessm.sweeps.layout import DONE, STATUS, fill_value
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.store import Store

TOLERANCE = 1e-5
_MAPS = ("parameterization", "link")


def assemble(plan: Plan, store: Store, measurement: Measurement) -> xr.Dataset:
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
    spec, layout = plan.spec, store.layout
    names, valid = tuple(spec.axes), plan.rows >= 0

    def unfold(values: np.ndarray) -> np.ndarray:
        inner = values.shape[1:]
        cells = np.empty((plan.cells, *inner), values.dtype)
        cells[plan.rows[valid]] = values[valid]
        return cells.reshape(*plan.shape, *inner)

    done = np.flatnonzero(store.status() == DONE)
    data = {name: (names + variable.dims, unfold(store.read(name, done)), _attributes(variable))
            for name, variable in layout.variables.items()}  # fmt: skip
    data["status"] = (names, unfold(store.read("status")), _attributes(STATUS))
    dataset = xr.Dataset(data, coords=_coordinates(plan, store))
    for name, variable in layout.variables.items():
        if variable.flags and (dataset[name].values == fill_value(variable.dtype)).any():
            _add_flag(dataset[name], fill_value(variable.dtype), "not_computed")
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
    dataset.attrs["checks"] = {**_check_starts(dataset), **_check_eigenvalues(dataset, plan)}
    return dataset


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


def _add_flag(array: xr.DataArray, value: int, meaning: str) -> None:
    array.attrs["flag_values"] = np.append(array.attrs["flag_values"], value).astype(array.dtype)
    array.attrs["flag_meanings"] += f" {meaning}"


def _check_starts(dataset: xr.Dataset) -> dict[str, str]:
    """Assert that for each seed, whatever the map and its link, a run starts from the same bytes."""
    maps = tuple(name for name in _MAPS if name in dataset.start_hash.dims) if "start_hash" in dataset else ()
    if not maps:
        return {}
    hashes, done = dataset.start_hash, dataset.status == DONE
    least = hashes.where(done, np.uint64(2**64 - 1)).min(maps)
    most = hashes.where(done, np.uint64(0)).max(maps)
    apart = ((least != most) & done.any(maps)).values
    if apart.any():
        where = dict(zip(least.dims, np.argwhere(apart)[0], strict=True))
        seed = int(dataset.seed[where["seed"]])
        raise SweepError(f"the starts of seed {seed} differ across maps (start_hash); runs would not be comparable.")
    return {"start_hash": f"equal across {' and '.join(maps)} for each seed"}


def _check_eigenvalues(dataset: xr.Dataset, plan: Plan) -> dict[str, str]:
    """Assert that all maps of one kind of time start from the same eigenvalues."""
    maps = tuple(name for name in _MAPS if name in plan.spec.axes)
    if "initial_eigenvalue" not in dataset or not maps:
        return {}
    stacked = dataset.initial_eigenvalue.stack(_map=maps).transpose("_map", ...)
    links = [entry.link for entry in plan.spec.axes.get("parameterization", ())]
    if "link" in maps:
        links = [link for _ in range(max(1, len(links))) for link in plan.spec.axes["link"]]
    continuous = np.array([link == "continuous" for link in links])
    for kind in (continuous, ~continuous):
        values = stacked.values[kind]
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
