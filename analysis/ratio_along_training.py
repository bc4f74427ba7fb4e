"""Gradient over weight along training: the maximum over the recurrent weights, its median and range over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the ratio over seeds, leaving out what comes after a run's first non-finite step.

    Args:
        dataset: with `gradient_to_weight_ratio` (step, quantile) and `first_bad_step`, along `seed`.

    Returns:
        median, smallest and greatest over the surviving seeds of the maximum over the weights; and how many survive.
    """
    ratio = dataset["gradient_to_weight_ratio"].sel(quantile=1.0).drop_vars("quantile")
    meanings = str(dataset["outcome"].attrs["flag_meanings"]).split()
    codes = dict(zip(meanings, np.atleast_1d(dataset["outcome"].attrs["flag_values"]), strict=True))
    stopped = dataset["outcome"].isin([codes[name] for name in ("nonfinite", "outside_domain") if name in codes])
    alive = ~stopped | (dataset["step"] < dataset["first_bad_step"])
    kept = ratio.where(alive)
    none = ~alive.any("seed")
    result = xr.Dataset(
        {
            "median_ratio": _median(kept, alive),
            "smallest_ratio": kept.min("seed"),
            "greatest_ratio": kept.max("seed"),
            "survivors": alive.sum("seed").astype(np.int32),
            "none_survives": none.astype(np.int8),
        }
    )
    names = {
        "median_ratio": "largest gradient over weight, median over seeds",
        "smallest_ratio": "largest gradient over weight, smallest over seeds",
        "greatest_ratio": "largest gradient over weight, greatest over seeds",
        "survivors": "seeds that have not met a non-finite step",
        "none_survives": "no seed survives to this step",
    }
    for name, long_name in names.items():
        result[name].attrs = {"long_name": long_name, "units": "1"}
    return result


def _median(kept: xr.DataArray, alive: xr.DataArray) -> xr.DataArray:
    """Median over the seeds that survive; NaN, which here means that none does, elsewhere."""
    filled = kept.where(alive.any("seed"), 0.0)
    return filled.median("seed", skipna=True).where(alive.any("seed"))
