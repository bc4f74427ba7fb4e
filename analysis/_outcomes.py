"""What several analyses need: reading flags, reducing over the seeds that count, naming what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

STABLE = ("converged", "step_limit")
NOT_COMPUTED = "not_computed"
STOPPED = ("nonfinite", "outside_domain")


def codes(variable: xr.DataArray) -> dict[str, int]:
    """Return meaning -> code of a variable with flags."""
    values = np.atleast_1d(variable.attrs["flag_values"]).tolist()
    return dict(zip(str(variable.attrs["flag_meanings"]).split(), values, strict=True))


def holds(variable: xr.DataArray, *meanings: str) -> xr.DataArray:
    """Return where a variable with flags holds one of these meanings; a meaning it does not know is nowhere."""
    known = codes(variable)
    return variable.isin([known[meaning] for meaning in meanings if meaning in known])


def going(dataset: xr.Dataset) -> xr.DataArray:
    """Return where a run has not met a non-finite step yet, along `step`."""
    return ~holds(dataset["outcome"], *STOPPED) | (dataset["step"] < dataset["first_bad_step"])


def flags(*meanings: str) -> dict[str, Any]:
    """Return the attributes of an integer code 0, 1, 2, ... with these meanings."""
    return {"flag_values": np.arange(len(meanings), dtype=np.int8), "flag_meanings": " ".join(meanings)}


def median(values: xr.DataArray, counts: xr.DataArray) -> xr.DataArray:
    """Return the median over the seeds that count; NaN where none does.

    Args:
        values: along `seed`.
        counts: which of them count.
    """
    some = counts.any("seed")
    return values.where(counts).where(some, 0.0).median("seed", skipna=True).where(some)


def mean_and_error(values: xr.DataArray, counts: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Return mean, standard error and number of the seeds that count.

    The mean is NaN where there is no such seed; the standard error (with n - 1 under the root) where there are fewer
    than two.

    Args:
        values: along `seed`.
        counts: which of them count.
    """
    number = counts.sum("seed")
    mean = values.where(counts, 0.0).sum("seed") / number.where(number > 0)
    squares = ((values - mean) ** 2).where(counts, 0.0).sum("seed")
    error = (squares / ((number - 1) * number).where(number > 1)) ** 0.5
    return mean, error, number.astype(np.int32)


def rank(values: xr.DataArray) -> xr.DataArray:
    """Return the rank of each map: 1 is the largest, ties share the better rank, 0 stands where there is no value."""
    higher = (values.rename(parameterization="other") > values).sum("other")
    return (higher + 1).where(values.notnull(), 0).transpose(*values.dims).astype(np.int32)


def described(result: xr.Dataset, names: Mapping[str, str]) -> xr.Dataset:
    """Return the dataset, each variable with its long_name; all of them are dimensionless."""
    for name, long_name in names.items():
        result[name].attrs = {"long_name": long_name, "units": "1"}
    return result
