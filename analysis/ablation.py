"""What a part of the block does: fitted C, ratio, largest stable rate and the ranking of the maps without it."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, going, holds, mean_and_error, median, rank

NEEDS = ("parameterization", "ablation", "layer", "seed", "step", "quantile", "gradient_constant",
         "gradient_to_weight_ratio", "outcome", "first_bad_step", "largest_stable_learning_rate",
         "test_accuracy")  # fmt: skip


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce over seeds and steps, leaving out what comes after a run's first non-finite step.

    Args:
        dataset: of the measurement `layer_by_layer`, with the rates of all weights.

    Returns:
        Of each layer the least C for which its gradients keep to C |f'|/margin^2, at the start and the largest along
        training, and the largest gradient over weight along training; of the network the largest stable rate and the
        test accuracy; medians over seeds with the smallest and the greatest. The rank of the maps by stable rate (1 the
        largest), by ratio (1 the smallest) and by accuracy (1 the best), and Kendall's tau-b of each ranking with that
        of the whole block, NaN where one of the two does not order the maps.
    """
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    alive = computed & going(dataset)
    constant = dataset["gradient_constant"].sel(quantile=1.0, drop=True)
    ratio = dataset["gradient_to_weight_ratio"].sel(quantile=1.0, drop=True).where(alive).max("step")
    rates = dataset["largest_stable_learning_rate"]
    accuracy, error, _ = mean_and_error(dataset["test_accuracy"], computed)
    some = alive.any("step")
    found = {
        "initial_constant": median(constant.isel(step=0, drop=True), alive.isel(step=0, drop=True)),
        "largest_constant": median(constant.where(alive).max("step"), some),
        "largest_ratio": median(ratio, some),
        "smallest_largest_ratio": ratio.min("seed"),
        "greatest_largest_ratio": ratio.max("seed"),
        "median_largest_rate": median(rates, computed),
        "smallest_largest_rate": rates.where(computed).min("seed"),
        "greatest_largest_rate": rates.where(computed).max("seed"),
        "mean_accuracy": accuracy,
        "accuracy_error": error,
    }
    overall = found["largest_ratio"].max("layer")
    ranked = {"rate": found["median_largest_rate"], "ratio": -overall, "accuracy": accuracy}
    for name, values in ranked.items():
        found[f"rank_by_{name}"] = rank(values)
        found[f"tau_by_{name}"] = _tau_with_whole(values)
    found["seeds"] = computed.sum("seed").astype(np.int32)
    names = {
        "initial_constant": "fitted C at the start, median over seeds",
        "largest_constant": "largest fitted C, along training, median over seeds",
        "largest_ratio": "largest gradient over weight, along training, median over seeds",
        "smallest_largest_ratio": "largest gradient over weight, along training, smallest over seeds",
        "greatest_largest_ratio": "largest gradient over weight, along training, greatest over seeds",
        "median_largest_rate": "largest stable learning rate, median over seeds, 0 where none is",
        "smallest_largest_rate": "largest stable learning rate, smallest over seeds",
        "greatest_largest_rate": "largest stable learning rate, greatest over seeds",
        "mean_accuracy": "test accuracy, mean over seeds",
        "accuracy_error": "standard error of the test accuracy over seeds",
        "rank_by_rate": "rank of the map by its largest stable rate, 1 the largest",
        "rank_by_ratio": "rank of the map by its largest gradient over weight, 1 the smallest",
        "rank_by_accuracy": "rank of the map by its test accuracy, 1 the best",
        "tau_by_rate": "Kendall's tau of the ranking by rate with that of the whole block",
        "tau_by_ratio": "Kendall's tau of the ranking by ratio with that of the whole block",
        "tau_by_accuracy": "Kendall's tau of the ranking by accuracy with that of the whole block",
        "seeds": "number of seeds computed",
    }
    return described(xr.Dataset(found), names)


def _tau_with_whole(values: xr.DataArray) -> xr.DataArray:
    """Return tau-b of the maps' order under each ablation with that under the first, the whole block."""
    from scipy.stats import kendalltau

    def tau(one: np.ndarray, other: np.ndarray) -> float:
        known = np.isfinite(one) & np.isfinite(other)
        if min(len(set(one[known])), len(set(other[known]))) < 2:
            return np.nan
        return kendalltau(one[known], other[known]).statistic

    whole = values.isel(ablation=0, drop=True)
    return xr.apply_ufunc(
        tau, values, whole, input_core_dims=[["parameterization"], ["parameterization"]], vectorize=True
    )
