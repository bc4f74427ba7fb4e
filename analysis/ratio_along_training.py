"""Gradient over weight along training: the maximum over the recurrent weights, its median and range over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, going, holds, median

NEEDS = ("seed", "step", "quantile", "gradient_to_weight_ratio", "outcome", "first_bad_step")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the ratio over seeds, leaving out what comes after a run's first non-finite step.

    A run is frozen there, so that what is stored behind that step is no observation. How many seeds are left is data.

    Args:
        dataset: with `gradient_to_weight_ratio` (step, quantile), `outcome` and `first_bad_step`, along `seed`.

    Returns:
        median, smallest and greatest over the surviving seeds of the maximum over the weights (and the median over
        seeds of the median over the weights); the number of seeds computed, and how many of them survive to each step.
    """
    ratio = dataset["gradient_to_weight_ratio"]
    largest = ratio.sel(quantile=1.0).drop_vars("quantile")
    middle = ratio.sel(quantile=0.5).drop_vars("quantile")
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    # of a network the ratio has layers, which a run goes through as one
    alive = (computed & going(dataset)).broadcast_like(largest).transpose(*largest.dims)
    kept = largest.where(alive)
    result = xr.Dataset(
        {
            "median_ratio": median(largest, alive),
            "smallest_ratio": kept.min("seed"),
            "greatest_ratio": kept.max("seed"),
            "median_ratio_of_median_weight": median(middle, alive),
            "survivors": alive.sum("seed").astype(np.int32),
            "seeds": computed.sum("seed").astype(np.int32),
        }
    )
    names = {
        "median_ratio": "largest gradient over weight, median over seeds",
        "smallest_ratio": "largest gradient over weight, smallest over seeds",
        "greatest_ratio": "largest gradient over weight, greatest over seeds",
        "median_ratio_of_median_weight": "median gradient over weight, median over seeds",
        "survivors": "number of seeds that have not met a non-finite step",
        "seeds": "number of seeds computed",
    }
    return described(result, names)
