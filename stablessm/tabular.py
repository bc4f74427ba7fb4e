"""Datasets as tidy tables: one row a cell, flags by their meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

INNER = ("step", "time", "batch", "layer", "state", "feature", "quantile", "weight", "decay")
"""Dimensions within a cell of a sweep."""


def in_words(variable: xr.DataArray) -> xr.DataArray:
    """Return a variable with its flags replaced by their meanings."""
    if "flag_meanings" not in variable.attrs:
        return variable
    known = meanings(variable)
    words = [known.get(value, str(value)) for value in variable.values.ravel().tolist()]
    return variable.copy(data=np.array(words, object).reshape(variable.shape))


def meanings(variable: xr.DataArray) -> dict[int, str]:
    """Return code -> word of a variable with flags."""
    values = np.atleast_1d(variable.attrs["flag_values"]).tolist()
    return dict(zip(values, str(variable.attrs["flag_meanings"]).split(), strict=True))


def rows(dataset: xr.Dataset) -> pd.DataFrame:
    """Return a tidy table: one row a cell, a column for each axis and each variable.

    Flags are written by their meaning; a variable that does not depend on an axis is repeated along it.

    Args:
        dataset: variables to be shown together.
    """
    plain = dataset.map(in_words, keep_attrs=True)
    if not plain.dims:
        plain = plain.expand_dims("row")
    dimensions = [name for name in dataset.dims] or ["row"]
    return plain.to_dataframe(dim_order=dimensions).reset_index().drop(columns="row", errors="ignore")
