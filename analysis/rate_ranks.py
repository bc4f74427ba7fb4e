"""Whether the ranking of the maps changes with the learning rate: ranks with intervals, and Kendall's tau."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._bootstrap import interval, median_of_resamples
from ._outcomes import NOT_COMPUTED, STOPPED, described, holds

NEEDS = ("parameterization", "learning_rate", "seed", "outcome", "final_loss")

TAU_RESAMPLES = 100


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Rank the maps at each rate by the median over seeds of their loss at the end.

    It is the loss on new sequences where there is one (`test_loss`), whether or not the run is called stable, and
    infinite where a step was not finite.

    Args:
        dataset: with `outcome` and a loss along `parameterization`, `learning_rate` and `seed`.

    Returns:
        For each rate the rank of each map (1 the least loss, ties share the better rank, 0 where no map has one) with
        its interval over seeds; between every two rates Kendall's tau-b of the medians with its interval, NaN where one
        of them does not order the maps at all.
    """
    ordered = dataset.sortby("learning_rate")
    loss = ordered["test_loss"].isel(step=-1, drop=True) if "test_loss" in ordered else ordered["final_loss"]
    ended = ~holds(ordered["outcome"], NOT_COMPUTED, *STOPPED)
    counted = loss.where(ended & np.isfinite(loss), np.inf)
    middle, drawn = counted.median("seed"), median_of_resamples(counted)
    low, high = interval(_ranks(drawn))
    rates = ordered["learning_rate"].values

    def tau(losses: xr.DataArray) -> xr.DataArray:
        return xr.apply_ufunc(
            _tau, losses, input_core_dims=[["parameterization", "learning_rate"]],
            output_core_dims=[["learning_rate", "other_rate"]], vectorize=True,
        ).assign_coords(other_rate=rates, learning_rate=ordered["learning_rate"])  # fmt: skip

    low_tau, high_tau = interval(tau(drawn.isel(resample=slice(TAU_RESAMPLES))))
    some = np.isfinite(middle).any("parameterization")
    result = xr.Dataset(
        {
            "median_loss": middle,
            "rank": _ranks(middle).where(some, 0).astype(np.int32),
            "low_rank": low.where(some, 0).astype(np.int32),
            "high_rank": high.where(some, 0).astype(np.int32),
            "tau": tau(middle),
            "low_tau": low_tau,
            "high_tau": high_tau,
            "seeds": (~holds(ordered["outcome"], NOT_COMPUTED)).sum("seed").astype(np.int32),
        }
    )
    result["other_rate"].attrs = {"long_name": "learning rate", "units": "1"}
    names = {
        "median_loss": "loss at the end, median over seeds, infinite where a step is not finite",
        "rank": "rank of the map by its median loss",
        "low_rank": "best rank in the 95% interval",
        "high_rank": "worst rank in the 95% interval",
        "tau": "Kendall's tau between the rankings at two rates",
        "low_tau": "lower end of its 95% interval",
        "high_tau": "upper end of its 95% interval",
        "seeds": "number of seeds computed",
    }
    return described(result, names)


def _ranks(losses: xr.DataArray) -> xr.DataArray:
    better = losses.rename(parameterization="other") < losses
    return (better.sum("other") + 1).transpose(*losses.dims)


def _tau(losses: np.ndarray) -> np.ndarray:
    """Return tau-b between every two columns of (maps, rates)."""
    from scipy.stats import kendalltau

    rates = losses.shape[1]
    found = np.full((rates, rates), np.nan)
    for one, other in zip(*np.triu_indices(rates), strict=True):
        if min(len(set(losses[:, one])), len(set(losses[:, other]))) > 1:
            found[one, other] = found[other, one] = kendalltau(losses[:, one], losses[:, other]).statistic
    return found
