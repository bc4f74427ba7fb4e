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
    """Return the median over the seeds of each resample, along `resample` in place of `seed`; infinities are values."""
    drawn = values.isel(seed=resamples(values.sizes["seed"])).drop_vars("seed", errors="ignore")
    ordered = np.sort(drawn.transpose(..., "draw").values, axis=-1)
    low, high = (ordered.shape[-1] - 1) // 2, ordered.shape[-1] // 2
    with np.errstate(invalid="ignore"):
        middle = np.where(ordered[..., low] == ordered[..., high], ordered[..., low],
                          (ordered[..., low] + ordered[..., high]) / 2)  # fmt: skip
    return drawn.isel(draw=0, drop=True).copy(data=middle.reshape(drawn.isel(draw=0).shape))


def interval(values: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the ends of the interval that holds 95% of the values along `resample`, each of them one of the values."""
    tail = (1 - LEVEL) / 2
    return tuple(
        values.quantile(level, "resample", method=method, skipna=False).drop_vars("quantile")
        for level, method in ((tail, "lower"), (1 - tail, "higher"))
    )
