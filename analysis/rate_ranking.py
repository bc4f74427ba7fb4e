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
        the rate over that of the first map, with its interval.
    """
    rates = dataset["largest_stable_learning_rate"]
    known = rates.notnull()
    complete = rates.where(known, 0.0)
    drawn = median_of_resamples(complete)
    ranks = (drawn.rename(parameterization="other") > drawn).sum("other") + 1
    first = complete.isel(parameterization=0, drop=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = (complete / first.where(first > 0)).where(known)
    gain_complete = gain.fillna(np.inf)
    low, high = interval(drawn)
    low_rank, high_rank = interval(ranks)
    low_gain, high_gain = interval(median_of_resamples(gain_complete))
    middle = median(rates, known)
    result = xr.Dataset(
        {
            "median_largest_rate": middle,
            "low_largest_rate": low,
            "high_largest_rate": high,
            "rank": rank(middle),
            "low_rank": low_rank.astype(np.int32),
            "high_rank": high_rank.astype(np.int32),
            "first_share": (ranks == 1).mean("resample"),
            "gain": gain_complete.median("seed"),
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
