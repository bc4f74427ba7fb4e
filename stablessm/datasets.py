"""Datasets on disk: checked, written whole or not at all, byte-reproducible netCDF (NumPy and xarray only).

A file is made under a temporary name and lands by a rename, so that a full disk or a kill leaves the old file intact.
netCDF refuses None, bool, dict and mixed lists as attributes; they are stored as JSON behind the prefix "json:" and
come back as they were. A global attribute marks our files: a foreign or damaged file is named and never overwritten.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stablessm.netcdf import Read, Region, regions, write
from stablessm.reading import readable
from stablessm.writing import DatasetError as DatasetError
from stablessm.writing import DatasetWriteError as DatasetWriteError
from stablessm.writing import write_whole, written_whole

if TYPE_CHECKING:
    import xarray as xr

MARK = "stablessm_dataset"
FORMAT = 1
_PREFIX = "json:"


class _BrokenRule(DatasetError):
    """A dataset that breaks a rule of `validate`."""


def validate(dataset: xr.Dataset, read: Read | None = None) -> None:
    """Check that a dataset says what it holds.

    Every variable and coordinate has `units` and `long_name`; an integer code has `flag_values` and `flag_meanings` of
    equal length, and holds no other value.

    Args:
        dataset: what to check.
        read: name and region of a variable -> its values there, all of which are read; by default from `dataset`.

    Raises:
        DatasetError: the first rule that is broken, naming the variable.
    """
    for name, variable in dataset.variables.items():
        _refuse_silent(str(name), variable.attrs)
        if "flag_values" in variable.attrs:
            for region in regions(variable.shape, variable.dtype.itemsize):
                values = variable.values[region] if read is None else read(str(name), region)
                _refuse_strange(str(name), variable.attrs, values)
        elif read is not None:  # what cannot be read is found out
            for region in regions(variable.shape, max(1, variable.dtype.itemsize)):
                read(str(name), region)


def _refuse_silent(name: str, attributes: Mapping[str, Any]) -> None:
    for attribute in ("units", "long_name"):
        if not isinstance(attributes.get(attribute), str) or not attributes[attribute]:
            raise _BrokenRule(f"the variable '{name}' needs the attribute '{attribute}', a text.")
    if ("flag_values" in attributes) != ("flag_meanings" in attributes) or (
        name == "outcome" and "flag_values" not in attributes
    ):
        raise _BrokenRule(f"the variable '{name}' needs both 'flag_values' and 'flag_meanings'.")
    if "flag_values" in attributes:
        values = np.atleast_1d(attributes["flag_values"])
        if len(values) != len(str(attributes["flag_meanings"]).split()):
            raise _BrokenRule(f"the variable '{name}' needs one word in 'flag_meanings' for each of 'flag_values'.")


def _refuse_strange(name: str, attributes: Mapping[str, Any], values: np.ndarray) -> None:
    if "flag_values" in attributes:
        strange = np.setdiff1d(values, np.atleast_1d(attributes["flag_values"]))
        if strange.size:
            raise _BrokenRule(f"the variable '{name}' holds {strange[0]}, which is not among its 'flag_values'.")


def load(path: str | Path) -> xr.Dataset:
    """Return the dataset of a file, read whole; the file is closed.

    Args:
        path: a file that `save` wrote.

    Returns:
        The dataset, `identical` to the one that was saved.

    Raises:
        DatasetError: no such file, or one that is damaged or foreign; the sentence names it.
    """
    with _opened(Path(path)) as lazy:
        dataset = lazy.load()
        validate(dataset)
    dataset.encoding = {}
    for variable in dataset.variables.values():
        variable.encoding = {}
    return dataset


def check(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a file's dataset after reading all of it, a block at a time.

    Raises:
        DatasetError: as `load` does.
    """
    with _opened(Path(path)) as lazy:
        validate(lazy, lambda name, region: lazy.variables[name][region].values)
        return dict(lazy.attrs)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[xr.Dataset]:
    """Yield the dataset of a file, with its attributes as they were and values that are read when they are wanted."""
    import xarray as xr

    with contextlib.ExitStack() as held:
        try:
            file = held.enter_context(readable(path, "dataset", DatasetError))
            stored = held.enter_context(
                xr.open_dataset(
                    file,
                    engine="h5netcdf",
                    mask_and_scale=False,
                    decode_times=False,
                    decode_timedelta=False,
                    cache=False,
                )
            )
            if stored.attrs.get(MARK) != FORMAT:
                raise DatasetError(f"'{path}' is no dataset of stablessm: its attribute '{MARK}' is not {FORMAT}.")
            try:
                dataset = _with_attributes(stored, _decode)
            except (ValueError, RecursionError):
                raise DatasetError(f"'{path}' is damaged: an attribute of it is no JSON.") from None
            del dataset.attrs[MARK]
            yield dataset
        except _BrokenRule as error:
            raise DatasetError(f"'{path}' breaks a rule: {error}") from None
        except DatasetError:
            raise
        except Exception:  # h5py and xarray raise anything on a damaged file
            raise DatasetError(f"'{path}' is damaged, or no netCDF file.") from None


def save(dataset: xr.Dataset, path: str | Path, *, read: Read | None = None) -> None:
    """Write a dataset as netCDF: the same dataset gives the same bytes, and the file appears whole or not at all.

    Args:
        dataset: what to write; it must pass `validate`.
        path: where; its folder is made. An older dataset there is replaced.
        read: name and region of a data variable of numbers -> its values there, where they are not in `dataset` itself
            (see `netcdf.write`); each block of them is validated and written in turn.

    Raises:
        DatasetError: the dataset breaks a rule, or the file there is damaged or foreign.
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    if read is None:
        validate(dataset)
    path = Path(path)
    refuse_foreign(path)
    marked = _with_attributes(dataset, _encode)
    marked.attrs = {**marked.attrs, MARK: np.int64(FORMAT)}

    def values(name: str, region: Region) -> np.ndarray:
        if read is None:
            return dataset[name].values[region]
        found = read(name, region)
        _refuse_strange(name, dataset[name].attrs, found)
        return found

    if read is not None:
        for name, variable in dataset.variables.items():
            _refuse_silent(str(name), variable.attrs)
    with written_whole(path) as file:
        write(file, marked, values)


def refuse_foreign(path: str | Path) -> dict[str, Any] | None:
    """Return the attributes of the dataset that `save` would replace, None where there is none.

    Raises:
        DatasetError: a file is in the way that is none, or is damaged.
    """
    if os.path.lexists(path):
        try:
            return check(path)
        except DatasetError as error:
            raise DatasetError(f"{str(error).rstrip('.')}; it is not overwritten, move it away first.") from None
    return None


def save_provenance(path: str | Path, mapping: Mapping[str, Any]) -> Path:
    """Write what varies from run to run (commit, dates, durations) beside a dataset.

    Args:
        path: the dataset's file, NAME.nc.
        mapping: what JSON can hold.

    Returns:
        The file written, NAME.provenance.json.

    Raises:
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    beside = Path(path).with_suffix(".provenance.json")
    write_whole(beside, (json.dumps(mapping, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode())
    return beside


def _with_attributes(dataset: xr.Dataset, convert: Any) -> xr.Dataset:
    """Return a shallow copy with every attribute converted."""
    copy = dataset.copy()
    copy.attrs = {key: convert(value) for key, value in dataset.attrs.items()}
    for name, variable in dataset.variables.items():
        copy[name].attrs = {key: convert(value) for key, value in variable.attrs.items()}
    return copy


def _encode(value: Any) -> Any:
    """Return what netCDF holds of an attribute: texts, numbers and arrays as they are, the rest as JSON."""
    if isinstance(value, str) and value and not value.startswith(_PREFIX):
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number | np.ndarray):
        try:
            return _PREFIX + json.dumps(value.item() if isinstance(value, np.bool_) else value, ensure_ascii=False)
        except (TypeError, ValueError):
            raise DatasetError(
                f"the attribute value {value!r} cannot be stored; use text, numbers, lists, dicts."
            ) from None
    if isinstance(value, np.ndarray) and (value.ndim != 1 or value.size < 2 or value.dtype.kind not in "fiu"):
        return _PREFIX + json.dumps(value.tolist(), ensure_ascii=False)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return _PREFIX + json.dumps(value)
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_PREFIX):
        return json.loads(value[len(_PREFIX) :])
    return value.item() if isinstance(value, np.generic) else value
