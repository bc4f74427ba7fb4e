"""Scores of trainings side by side: mean and error over seeds, beside what a simple answer and what others score."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, holds, mean_and_error

NEEDS = ("seed", "outcome", "test_loss", "reported_score", "steps", "parameters")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the test metric over seeds.

    Args:
        dataset: with `test_METRIC` and `test_METRIC_error` (or the loss alone) along `seed`; of the measurement
            `comparison`.

    Returns:
        mean of the test metric over the seeds where it is finite, its standard error over them (NaN with fewer than
        two), the smallest and the largest, the mean of its standard error over rows, and how many seeds there are; the
        score of a simple answer and the reported one, NaN where there is none; steps and parameters.
    """
    metric = next((str(name).removesuffix("_error") for name in dataset if str(name).startswith("test_")
                   and str(name).endswith("_error")), "test_loss")  # fmt: skip
    finite = ~holds(dataset["outcome"], NOT_COMPUTED) & np.isfinite(dataset[metric])
    kept = dataset[metric].where(finite)
    mean, error, seeds = mean_and_error(kept, finite)
    of_rows = (dataset[f"{metric}_error"] if f"{metric}_error" in dataset else kept * np.nan).where(finite)
    reported = dataset["reported_score"].isel(seed=0)
    simple = dataset["trivial_score"].isel(seed=0) if "trivial_score" in dataset else mean * np.nan
    result = xr.Dataset(
        {
            "score": mean,
            "error_over_seeds": error,
            "smallest_score": kept.min("seed"),
            "largest_score": kept.max("seed"),
            "error_over_rows": of_rows.mean("seed"),
            "seeds": seeds,
            "trivial_score": simple.where(np.isfinite(simple)),
            "reported_score": reported.where(np.isfinite(reported)),
            "steps": dataset["steps"].isel(seed=0),
            "parameters": dataset["parameters"].isel(seed=0),
        }
    )
    shown = dataset[metric].attrs["long_name"].removesuffix(" at the end")
    names = {
        "score": f"{shown}, mean over seeds",
        "error_over_seeds": f"standard error of the {shown} over seeds",
        "smallest_score": f"{shown}, smallest over seeds",
        "largest_score": f"{shown}, largest over seeds",
        "error_over_rows": f"standard error of the {shown} over rows, mean over seeds",
        "seeds": "number of seeds with a finite score",
        "trivial_score": f"{shown} of a simple answer that learns nothing",
        "reported_score": f"{shown} that others report",
        "steps": "steps of the optimiser",
        "parameters": "number of parameters",
    }
    return described(result.drop_vars("seed", errors="ignore"), names)
