"""How long a series may be before a step of its training no longer fits into 8 GB."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import described

NEEDS = ("length", "step_memory")
LIMIT = 8e9


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Compare the memory of a step with 8 GB, length by length.

    Args:
        dataset: with `step_memory` along ascending `length`; of the measurement `step_memory`.

    Returns:
        the longest length measured up to which all fit (NaN where none does), the shortest that does not (NaN where all
        fit), the length between them at which a power law through both reaches the limit, and the growth of the memory
        between the last two lengths: d log bytes/d log length.
    """
    memory, length = dataset["step_memory"], dataset["length"].astype(np.float64)
    fits = (memory <= LIMIT).cumprod("length").astype(bool)
    longest = length.where(fits).max("length")
    first = length.where(~fits).min("length")
    low = memory.where(length == longest).max("length")
    high = memory.where(length == first).max("length")
    between = np.log(LIMIT / low) / np.log(high / low)
    ends = memory.isel(length=[-2, -1]) if dataset.sizes["length"] > 1 else memory.isel(length=[0, 0])
    rise = np.log(ends.isel(length=1) / ends.isel(length=0)) / np.log(
        float(ends["length"][1] / ends["length"][0]) if dataset.sizes["length"] > 1 else np.nan
    )
    result = xr.Dataset(
        {
            "longest_that_fits": longest,
            "shortest_that_does_not": first,
            "length_at_limit": longest * (first / longest) ** between,
            "growth": rise,
        }
    )
    names = {
        "longest_that_fits": "longest series whose training step fits 8 GB",
        "shortest_that_does_not": "shortest series whose training step does not fit 8 GB",
        "length_at_limit": "length at which a training step holds 8 GB, by the power law between these two",
        "growth": "growth of the memory with the length, d log bytes/d log length at the longest two",
    }
    return described(result, names)
