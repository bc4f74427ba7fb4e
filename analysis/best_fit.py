"""The fit of a target: error by map and learning rate, and at each map's best rate the kernel of a typical seed."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, STABLE, described, holds, median, rank

NEEDS = (
    "parameterization", "learning_rate", "seed", "time", "outcome", "fit_error", "fitted_kernel", "target_kernel",
)  # fmt: skip


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the fit error over seeds; a run that is not stable counts as an infinite error.

    The typical seed at a rate is the one whose error is nearest the median.

    Args:
        dataset: with `fit_error`, `fitted_kernel`, `target_kernel` and `outcome` along `learning_rate` and `seed`.

    Returns:
        median, smallest and greatest error for each rate, the number of seeds computed and of those whose run is
        stable; for each map the rate of the least median error, that error, its rank and the kernel of the typical seed
        there, NaN where no rate has a finite one; and the target's kernel.
    """
    dataset = dataset.sortby("learning_rate")
    outcome = dataset["outcome"]
    computed, stable = ~holds(outcome, NOT_COMPUTED), holds(outcome, *STABLE)
    error = dataset["fit_error"].where(stable, np.inf)
    middle = median(error, computed)
    place = middle.fillna(np.inf).argmin("learning_rate")

    def best(values: xr.DataArray) -> xr.DataArray:
        return values.isel(learning_rate=place).drop_vars("learning_rate")

    least = best(middle)
    fitted = np.isfinite(least)
    distance = np.abs(error.where(np.isfinite(error)) - middle.where(np.isfinite(middle)))
    typical = best(distance.fillna(np.inf).argmin("seed"))
    kernel = best(dataset["fitted_kernel"]).isel(seed=typical).drop_vars("seed").where(fitted)
    result = xr.Dataset(
        {
            "median_fit_error": middle,
            "smallest_fit_error": error.where(computed).min("seed"),
            "greatest_fit_error": error.where(computed).max("seed"),
            "stable_seeds": stable.sum("seed").astype(np.int32),
            "seeds": computed.sum("seed").astype(np.int32),
            "best_fit_error": least.where(fitted),
            "best_learning_rate": best(dataset["learning_rate"]).where(fitted),
            "rank": rank(-least.where(fitted)),
            "fitted_kernel": kernel,
            "target_kernel": dataset["target_kernel"].max(("learning_rate", "seed")),
        }
    )
    names = {
        "median_fit_error": "relative fit error, median over seeds",
        "smallest_fit_error": "relative fit error, smallest over seeds",
        "greatest_fit_error": "relative fit error, greatest over seeds",
        "stable_seeds": "number of stable runs",
        "seeds": "number of seeds computed",
        "best_fit_error": "least median fit error over learning rates",
        "best_learning_rate": "learning rate of the least median fit error",
        "rank": "rank of the map by its fit error, 1 the least, 0 where there is none",
        "fitted_kernel": "memory kernel, of the model at its best rate, typical seed",
        "target_kernel": "memory kernel, of the target",
    }
    return described(result, names)
