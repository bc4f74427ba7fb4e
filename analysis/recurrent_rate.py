"""Does the recurrent weight need a smaller learning rate? The best loss of each map by the ratio of the rates."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._bootstrap import interval, median_of_resamples
from ._outcomes import NOT_COMPUTED, STABLE, STOPPED, described, holds
from ._runs import first_run

NEEDS = ("parameterization", "recurrent_rate", "learning_rate", "seed", "outcome", "final_loss")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce over learning rates and seeds; a loss counts whether or not the run is stable, if all steps are finite.

    Args:
        dataset: with `outcome` and `final_loss` along `recurrent_rate`, `learning_rate` and `seed`.

    Returns:
        For each rate the median loss over seeds; for each map and ratio of the rates the least of these with its
        interval (the rate is chosen in each resample anew), the rate it is at, and the largest rate at which most seeds
        are stable; and the ratio of the best loss to that at equal rates with its interval.
    """
    ordered = dataset.sortby("learning_rate")
    stable = holds(ordered["outcome"], *STABLE)
    ended = ~holds(ordered["outcome"], NOT_COMPUTED, *STOPPED)
    counted = ordered["final_loss"].where(ended & np.isfinite(ordered["final_loss"]), np.inf)
    middle, drawn = counted.median("seed"), median_of_resamples(counted)
    best, best_drawn = middle.min("learning_rate"), drawn.min("learning_rate")
    low, high = interval(best_drawn)
    equal = {"recurrent_rate": int(np.argmin(np.abs(ordered["recurrent_rate"].values - 1)))}
    gain = best_drawn / best_drawn.isel(equal, drop=True)
    low_gain, high_gain = interval(gain.fillna(np.inf))
    half = stable.mean("seed") > 0.5
    rate = ordered["learning_rate"]
    at = rate.isel(learning_rate=middle.argmin("learning_rate")).drop_vars("learning_rate")
    result = xr.Dataset(
        {
            "median_loss": middle,
            "best_loss": best,
            "low_best_loss": low,
            "high_best_loss": high,
            "best_learning_rate": at.where(np.isfinite(best)),
            "loss_ratio": (best / best.isel(equal, drop=True)).fillna(np.inf),
            "low_loss_ratio": low_gain,
            "high_loss_ratio": high_gain,
            "largest_stable_rate": (first_run(half) * rate).max("learning_rate"),
            "seeds": (~holds(ordered["outcome"], NOT_COMPUTED)).sum("seed").astype(np.int32),
        }
    )
    names = {
        "median_loss": "loss at the end, median over seeds, infinite where a step is not finite",
        "best_loss": "least median loss over learning rates",
        "low_best_loss": "lower end of its 95% interval",
        "high_best_loss": "upper end of its 95% interval",
        "best_learning_rate": "learning rate of the least median loss",
        "loss_ratio": "best loss over that at equal rates",
        "low_loss_ratio": "lower end of its 95% interval",
        "high_loss_ratio": "upper end of its 95% interval",
        "largest_stable_rate": "largest rate at which most seeds are stable, top of the first run of them",
        "seeds": "number of seeds computed",
    }
    return described(result, names)
