"""Test accuracy by map and learning rate: mean and standard error over seeds, and each map's best rate."""

from __future__ import annotations

import xarray as xr

from ._outcomes import NOT_COMPUTED, STABLE, described, holds, mean_and_error, rank

NEEDS = ("parameterization", "learning_rate", "seed", "test_accuracy", "outcome")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the test accuracy over seeds: over all that were computed, and over those whose run is stable.

    Args:
        dataset: with `test_accuracy` and `outcome` along `learning_rate` and `seed`.

    Returns:
        mean, standard error and number of seeds for each rate, over all seeds and over the stable ones, and the rank of
        the maps; for each map the best mean over all seeds, its rate, its error and its number of seeds. A mean without
        a seed, and an error with fewer than two, are NaN.
    """
    dataset = dataset.sortby("learning_rate")
    accuracy, outcome = dataset["test_accuracy"], dataset["outcome"]
    mean, error, seeds = mean_and_error(accuracy, ~holds(outcome, NOT_COMPUTED))
    stable_mean, stable_error, stable_seeds = mean_and_error(accuracy, holds(outcome, *STABLE))
    place = mean.fillna(-1.0).argmax("learning_rate")

    def best(values: xr.DataArray) -> xr.DataArray:
        return values.isel(learning_rate=place).drop_vars("learning_rate")

    result = xr.Dataset(
        {
            "mean_accuracy": mean,
            "accuracy_error": error,
            "seeds": seeds,
            "stable_mean_accuracy": stable_mean,
            "stable_accuracy_error": stable_error,
            "stable_seeds": stable_seeds,
            "rank": rank(mean),
            "best_accuracy": best(mean),
            "best_accuracy_error": best(error),
            "best_seeds": best(seeds),
            "best_learning_rate": best(dataset["learning_rate"]).where(best(seeds) > 0),
        }
    )
    names = {
        "mean_accuracy": "test accuracy",
        "accuracy_error": "standard error of the test accuracy over seeds",
        "seeds": "number of seeds computed",
        "stable_mean_accuracy": "test accuracy of the stable runs",
        "stable_accuracy_error": "standard error of the test accuracy over the stable runs",
        "stable_seeds": "number of stable runs",
        "rank": "rank of the map by its mean test accuracy, 0 where there is none",
        "best_accuracy": "best mean test accuracy over learning rates",
        "best_accuracy_error": "standard error of the best mean test accuracy",
        "best_seeds": "number of seeds of the best mean test accuracy",
        "best_learning_rate": "learning rate of the best mean test accuracy",
    }
    return described(result, names)
