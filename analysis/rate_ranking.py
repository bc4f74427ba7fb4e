"""Which map survives the largest learning rate: medians, ranks and shares of `direct` with intervals over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._bootstrap import interval, median_of_resamples
from ._outcomes import described, median, rank

NEEDS = ("parameterization", "seed", "largest_stable_learning_rate")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the largest stable rates over seeds.

    Args:
        dataset: with `largest_stable_learning_rate` along `parameterization` and `seed`, 0 where none is stable.

    Returns:
        The median over seeds and its interval; the rank of the maps by it (1 the largest) and the interval of the rank;
        how often a map is first, ties counted for each, when the seeds are drawn again; and the median over seeds of
        the rate over that of the first map, with its interval. A map whose median is 0 has rank 0 and is never first;
        seeds in which neither map of a ratio has a stable rate are left out of it, NaN where none is left.
    """
    rates = dataset["largest_stable_learning_rate"]
    known = rates.notnull()
    drawn = median_of_resamples(rates.where(known, 0.0))
    some = drawn > 0
    above = (drawn.rename(parameterization="other") > drawn).sum("other")
    ranks = (above + 1).where(some, drawn.sizes["parameterization"])
    low, high = interval(drawn)
    low_rank, high_rank = (end.where(some.any("resample"), 0) for end in interval(ranks))
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = rates / rates.isel(parameterization=0, drop=True)
    low_gain, high_gain = interval(median_of_resamples(gain))
    middle = median(rates, known)
    result = xr.Dataset(
        {
            "median_largest_rate": middle,
            "low_largest_rate": low,
            "high_largest_rate": high,
            "rank": rank(middle.where(middle > 0)),
            "low_rank": low_rank.astype(np.int32),
            "high_rank": high_rank.astype(np.int32),
            "first_share": (some & (above == 0)).mean("resample"),
            "gain": median(gain, gain.notnull()),
            "low_gain": low_gain,
            "high_gain": high_gain,
            "seeds": known.sum("seed").astype(np.int32),
        }
    )
    names = {
        "median_largest_rate": "median over seeds of the largest stable learning rate",
        "low_largest_rate": "lower end of its 95% interval",
        "high_largest_rate": "upper end of its 95% interval",
        "rank": "rank of the map by its median largest rate, 0 where there is none",
        "low_rank": "best rank in the 95% interval",
        "high_rank": "worst rank in the 95% interval",
        "first_share": "share of resamples in which the map is first",
        "gain": "largest stable rate over that of the first map, median over seeds",
        "low_gain": "lower end of its 95% interval",
        "high_gain": "upper end of its 95% interval",
        "seeds": "number of seeds computed",
    }
    return described(result, names)
