"""Datasets on disk: checked, written whole or not at all, byte-reproducible netCDF (NumPy and xarray only).

A file is made in memory and lands by a rename, so that a full disk or a kill leaves the old file intact. netCDF refuses
None, bool, dict and mixed lists as attributes; they are stored as JSON behind the prefix "json:" and come back as they
were. A global attribute marks our files: a foreign or damaged file is named and never overwritten.
"""

from __future__ import annotations

import contextlib
import glob
import io
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from stablessm.reading import read_bytes

MARK = "stablessm_dataset"
FORMAT = 1
_PREFIX = "json:"


class DatasetError(ValueError):
    """A dataset that breaks the rules, or a file that is missing, damaged, foreign or cannot be written."""


class DatasetWriteError(DatasetError):
    """A dataset that could not be written (no space, no permission); the old file, if any, is intact."""


def validate(dataset: xr.Dataset) -> None:
    """Check that a dataset says what it holds.

    Every variable and coordinate has `units` and `long_name`; an integer code has `flag_values` and `flag_meanings` of
    equal length, and holds no other value.

    Args:
        dataset: what to check.

    Raises:
        DatasetError: the first rule that is broken, naming the variable.
    """
    for name, variable in dataset.variables.items():
        for attribute in ("units", "long_name"):
            if not isinstance(variable.attrs.get(attribute), str) or not variable.attrs[attribute]:
                raise DatasetError(f"the variable '{name}' needs the attribute '{attribute}', a text.")
        if ("flag_values" in variable.attrs) != ("flag_meanings" in variable.attrs) or (
            name == "outcome" and "flag_values" not in variable.attrs
        ):
            raise DatasetError(f"the variable '{name}' needs both 'flag_values' and 'flag_meanings'.")
        if "flag_values" in variable.attrs:
            values = np.atleast_1d(variable.attrs["flag_values"])
            if len(values) != len(str(variable.attrs["flag_meanings"]).split()):
                raise DatasetError(
                    f"the variable '{name}' needs one word in 'flag_meanings' for each of 'flag_values'."
                )
            strange = np.setdiff1d(variable.values, values)
            if strange.size:
                raise DatasetError(f"the variable '{name}' holds {strange[0]}, which is not among its 'flag_values'.")


def load(path: str | Path) -> xr.Dataset:
    """Return the dataset of a file, read whole; the file is closed.

    Args:
        path: a file that `save` wrote.

    Returns:
        The dataset, `identical` to the one that was saved.

    Raises:
        DatasetError: no such file, or one that is damaged or foreign; the sentence names it.
    """
    path = Path(path)
    content = read_bytes(path, "dataset", DatasetError)
    try:
        stored = xr.load_dataset(
            io.BytesIO(content), engine="h5netcdf", mask_and_scale=False, decode_times=False, decode_timedelta=False
        )
    except Exception:  # h5py and xarray raise anything on a damaged file
        raise DatasetError(f"'{path}' is damaged, or no netCDF file.") from None
    if stored.attrs.get(MARK) != FORMAT:
        raise DatasetError(f"'{path}' is no dataset of stablessm: its attribute '{MARK}' is not {FORMAT}.")
    try:
        dataset = _with_attributes(stored, _decode)
        validate(dataset)
    except DatasetError as error:
        raise DatasetError(f"'{path}' breaks a rule: {error}") from None
    except (ValueError, RecursionError):
        raise DatasetError(f"'{path}' is damaged: an attribute of it is no JSON.") from None
    del dataset.attrs[MARK]
    dataset.encoding = {}
    for variable in dataset.variables.values():
        variable.encoding = {}
    return dataset


def save(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a dataset as netCDF: the same dataset gives the same bytes, and the file appears whole or not at all.

    Args:
        dataset: what to write; it must pass `validate`.
        path: where; its folder is made. An older dataset there is replaced.

    Raises:
        DatasetError: the dataset breaks a rule, or the file there is damaged or foreign.
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    validate(dataset)
    path = Path(path)
    refuse_foreign(path)
    marked = _with_attributes(dataset, _encode)
    marked.attrs = {**marked.attrs, MARK: np.int64(FORMAT)}
    encoding = {name: _encoding(variable) for name, variable in marked.variables.items()}
    for variable in marked.variables.values():
        variable.encoding = {}
    write_whole(path, bytes(marked.to_netcdf(None, engine="h5netcdf", encoding=encoding)))


def refuse_foreign(path: str | Path) -> None:
    """Raise a `DatasetError` where a file is in the way that `save` would not replace."""
    if os.path.lexists(path):
        try:
            load(path)
        except DatasetError as error:
            raise DatasetError(f"{str(error).rstrip('.')}; it is not overwritten, move it away first.") from None


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


def sweep_stale(left: Iterable[Path]) -> None:
    """Delete what a killed run left half-written, files and folders.

    Raises:
        DatasetWriteError: one of them cannot be deleted; the sentence names it.
    """
    for stale in list(left):
        try:
            if stale.is_dir() and not stale.is_symlink():
                shutil.rmtree(stale)
            else:
                stale.unlink(missing_ok=True)
        except OSError as error:
            raise DatasetWriteError(
                f"'{stale}' was left by a run that was killed and cannot be deleted: {error.strerror or error}."
            ) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name in the same folder, push it to the disk, and rename it over the old file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep_stale(path.parent.glob(f".{glob.escape(path.name)}.*.partial"))
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        if isinstance(error, DatasetError):
            raise
        with contextlib.suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        raise DatasetWriteError(
            f"{str(path)!r} cannot be written: {reason}; what was there before is intact."
        ) from None


def _encoding(variable: xr.Variable) -> dict[str, Any]:
    """Compress and checksum arrays of numbers; no fill value, so that NaN and integers come back as they were."""
    packed = variable.ndim > 0 and variable.size > 0 and variable.dtype.kind in "fiu"
    return {
        "_FillValue": None,
        **({"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True} if packed else {}),
    }


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
