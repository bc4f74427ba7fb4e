"""Intervals over seeds: what a statistic comes to when the seeds are drawn again, with replacement."""

from __future__ import annotations

import numpy as np
import xarray as xr

RESAMPLES = 400
LEVEL = 0.95


def resamples(seeds: int, number: int = RESAMPLES) -> xr.DataArray:
    """Return places of seeds, drawn with replacement: (resample, draw); the same in every run."""
    return xr.DataArray(np.random.default_rng(0).integers(seeds, size=(number, seeds)), dims=("resample", "draw"))


def median_of_resamples(values: xr.DataArray) -> xr.DataArray:
    """Return the median over the seeds of each resample, along `resample` in place of `seed`.

    Infinities are values; NaN is none, and the median of no value is NaN.
    """
    drawn = values.isel(seed=resamples(values.sizes["seed"])).drop_vars("seed", errors="ignore")
    ordered = np.sort(drawn.transpose(..., "draw").values, axis=-1)  # NaN at the end
    counted = np.maximum((~np.isnan(ordered)).sum(axis=-1, keepdims=True), 1)
    low, high = (np.take_along_axis(ordered, place, axis=-1)[..., 0] for place in ((counted - 1) // 2, counted // 2))
    with np.errstate(invalid="ignore"):
        middle = np.where(low == high, low, (low + high) / 2)
    return drawn.isel(draw=0, drop=True).copy(data=middle.reshape(drawn.isel(draw=0).shape))


def interval(values: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the ends of the interval that holds 95% of the values along `resample`, each of them one of the values.

    Resamples without a value are left out; NaN where none has one.
    """
    tail, some = (1 - LEVEL) / 2, values.notnull().any("resample")
    return tuple(
        values.where(some, 0.0).quantile(level, "resample", method=method).drop_vars("quantile").where(some)
        for level, method in ((tail, "lower"), (1 - tail, "higher"))
    )
