"""Largest stable learning rate: the top of the first unbroken run of stable rates, per seed and over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

STABLE = ("converged", "step_limit")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce outcomes over the learning rate.

    Args:
        dataset: with `outcome` along `learning_rate` and `seed`.

    Returns:
        largest_stable_learning_rate per seed (0 where even the smallest rate is not stable), its median, smallest and
        largest over seeds; reentry; the share of stable seeds and the most common outcome for each rate; and the rank
        of the maps by median (1 is the largest; ties share the better rank).
    """
    ordered = dataset.sortby("learning_rate")
    outcome = ordered["outcome"]
    meanings = str(outcome.attrs["flag_meanings"]).split()
    codes = dict(zip(meanings, np.atleast_1d(outcome.attrs["flag_values"]), strict=True))
    stable = outcome.isin([codes[name] for name in STABLE if name in codes])
    axis = stable.get_axis_num("learning_rate")
    unbroken = stable.copy(data=np.logical_and.accumulate(stable.values, axis=axis))
    rate = ordered["learning_rate"]
    largest = (unbroken * rate).max("learning_rate")
    reentry = (stable & ~unbroken).any("learning_rate")
    median = largest.median("seed")
    counts = xr.concat([(outcome == codes[name]).sum("seed") for name in meanings], "kind")
    common = counts.argmax("kind").copy(data=np.array([codes[n] for n in meanings])[counts.argmax("kind").values])
    result = xr.Dataset(
        {
            "largest_stable_learning_rate": largest,
            "median_largest_rate": median,
            "smallest_largest_rate": largest.min("seed"),
            "greatest_largest_rate": largest.max("seed"),
            "reentry": reentry.astype(np.int8),
            "stable_share": stable.mean("seed"),
            "common_outcome": common.astype(np.int8),
            "rank": _rank(median),
        }
    )
    names = {
        "largest_stable_learning_rate": "largest stable learning rate",
        "median_largest_rate": "median over seeds of the largest stable learning rate",
        "smallest_largest_rate": "smallest over seeds of the largest stable learning rate",
        "greatest_largest_rate": "greatest over seeds of the largest stable learning rate",
        "reentry": "stable again above the first unstable rate",
        "stable_share": "share of seeds that are stable",
        "common_outcome": "most common outcome",
        "rank": "rank of the map by its median largest rate",
    }
    for name, long_name in names.items():
        result[name].attrs = {"long_name": long_name, "units": "1"}
    result["common_outcome"].attrs |= {key: outcome.attrs[key] for key in ("flag_values", "flag_meanings")}
    result["reentry"].attrs |= {"flag_values": np.array([0, 1], np.int8), "flag_meanings": "no yes"}
    return result


def _rank(median: xr.DataArray) -> xr.DataArray:
    higher = (median.rename(parameterization="other") > median).sum("other")
    return (higher + 1).transpose(*median.dims).astype(np.int32)
