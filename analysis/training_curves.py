"""Training on data: the loss along the run and the test metric of each map, over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, going, holds, mean_and_error, median

NEEDS = ("seed", "step", "loss", "test_loss", "outcome", "first_bad_step")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce loss and test metric over seeds; of a loss what stands behind a run's first non-finite step is left out.

    Args:
        dataset: with `loss` (step), `test_METRIC` and `test_METRIC_error` (or the loss alone) along `seed`.

    Returns:
        median, smallest and greatest loss over the seeds that go on; mean of the test metric over the seeds where it
        is finite, its standard error over them, the mean of its standard error over test rows, and how many they are.
        An error with fewer than two seeds is NaN: one seed says nothing of another.
    """
    metric = next((str(name).removesuffix("_error") for name in dataset if str(name).endswith("_error")
                   and str(name).startswith("test_")), "test_loss")  # fmt: skip
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    loss = dataset["loss"]
    alive = (computed & going(dataset)).broadcast_like(loss).transpose(*loss.dims) & np.isfinite(loss)
    kept = loss.where(alive)
    finite = computed & np.isfinite(dataset[metric])
    mean, error, seeds = mean_and_error(dataset[metric].where(finite), finite)
    of_rows = dataset[f"{metric}_error"].where(finite).mean("seed") if f"{metric}_error" in dataset else mean * np.nan
    result = xr.Dataset(
        {
            "median_loss": median(loss, alive),
            "smallest_loss": kept.min("seed"),
            "greatest_loss": kept.max("seed"),
            "test_metric": mean,
            "error_over_seeds": error,
            "error_over_rows": of_rows,
            "seeds": seeds,
        }
    )
    shown = metric.removeprefix("test_").replace("_", " ")
    names = {
        "median_loss": "training loss, median over seeds",
        "smallest_loss": "training loss, smallest over seeds",
        "greatest_loss": "training loss, greatest over seeds",
        "test_metric": f"test {shown}, mean over seeds",
        "error_over_seeds": f"standard error of the test {shown} over seeds",
        "error_over_rows": f"standard error of the test {shown} over test rows, mean over seeds",
        "seeds": "number of seeds with a finite test metric",
    }
    return described(result, names)
