"""How the error of m modes and their slowest decay fall with m, held against the laws."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import described

NEEDS = (
    "target", "domain", "extent", "fit", "width", "approximation_error", "slowest_decay", "modes_used", "law",
    "expected_law", "expected_decay_law",
)  # fmt: skip

FIRST = 4  # widths below are not yet in the regime of the laws
ROUNDING = 1e-11  # relative errors below are, or may be, rounding


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Fit straight lines to the logarithms of error and slowest decay.

    Args:
        dataset: of the measurement `approximation`.

    Returns:
        For each method error_rate, the r of error ~ exp(-r sqrt(m)) over an infinite horizon and of exp(-r m) over a
        finite one, and decay_rate, the r of slowest decay ~ exp(-r sqrt(m)) over an infinite horizon and of m^-r over a
        finite one, by least squares over the widths from 4 on that are used whole and whose error is above 1e-11;
        `widths` says how many, and with fewer than two the rates are NaN. The laws as they were stored.
    """
    width, extent = dataset["width"], dataset["extent"]
    infinite = extent == "infinite"
    kept = (width >= FIRST) & (dataset["modes_used"] == width) & (dataset["approximation_error"] > ROUNDING)
    size = xr.where(infinite, np.sqrt(width), width.astype(np.float64))
    pace = xr.where(infinite, np.sqrt(width), np.log(width))
    result = xr.Dataset(
        {
            "error_rate": -_slope(size, np.log(dataset["approximation_error"].where(kept)), kept),
            "decay_rate": -_slope(pace, np.log(dataset["slowest_decay"].where(kept)), kept),
            "widths": kept.sum("width").astype(np.int32),
            "law": dataset["law"],
            "expected_law": dataset["expected_law"],
            "expected_decay_law": dataset["expected_decay_law"],
        }
    )
    result = result.assign_coords({name: dataset[name] for name in result.coords})  # with their attributes
    return described(
        result,
        {
            "error_rate": "r of error ~ exp(-r sqrt(m)) (infinite horizon) or exp(-r m) (finite)",
            "decay_rate": "r of slowest decay ~ exp(-r sqrt(m)) (infinite horizon) or m^-r (finite)",
            "widths": "number of widths behind the rates",
            "law": "r of the bound on the error",
            "expected_law": "r expected of best fits over an infinite horizon",
            "expected_decay_law": "r of the slowest decay expected over an infinite horizon",
        },
    )


def _slope(x: xr.DataArray, y: xr.DataArray, kept: xr.DataArray) -> xr.DataArray:
    x = x.where(kept)
    dx, dy = x - x.mean("width"), y - y.mean("width")
    enough = kept.sum("width") >= 2
    return ((dx * dy).sum("width") / (dx**2).sum("width").where(enough)).where(enough)
