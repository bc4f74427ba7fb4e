"""Test accuracy by map and learning rate: mean and standard error over seeds, and each map's best rate."""

from __future__ import annotations

import numpy as np
import xarray as xr


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the test accuracy over seeds.

    Args:
        dataset: with `test_accuracy` along `learning_rate` and `seed`.

    Returns:
        mean and standard error over seeds for each rate; for each map the best mean, its rate and its error.
    """
    accuracy = dataset["test_accuracy"]
    seeds = accuracy.sizes["seed"]
    mean = accuracy.mean("seed")
    error = accuracy.std("seed", ddof=1) / seeds**0.5 if seeds > 1 else xr.zeros_like(mean)
    place = mean.argmax("learning_rate")
    result = xr.Dataset(
        {
            "mean_accuracy": mean,
            "accuracy_error": error,
            "best_accuracy": mean.isel(learning_rate=place).drop_vars("learning_rate"),
            "best_accuracy_error": error.isel(learning_rate=place).drop_vars("learning_rate"),
            "best_learning_rate": dataset["learning_rate"][place].drop_vars("learning_rate"),
            "seeds": xr.DataArray(np.int32(seeds)),
        }
    )
    names = {
        "mean_accuracy": "test accuracy",
        "accuracy_error": "standard error of the test accuracy over seeds",
        "best_accuracy": "best mean test accuracy over learning rates",
        "best_accuracy_error": "standard error of the best mean test accuracy",
        "best_learning_rate": "learning rate of the best mean test accuracy",
        "seeds": "number of seeds",
    }
    for name, long_name in names.items():
        result[name].attrs = {"long_name": long_name, "units": "1"}
    return result
