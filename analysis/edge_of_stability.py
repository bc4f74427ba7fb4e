"""Sharpness along training against what the learning rate allows: medians over the seeds that are still going."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, going, holds, median

NEEDS = ("seed", "step", "sharpness", "recurrent_sharpness", "edge_ratio", "outcome", "first_bad_step")


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the curvatures over seeds, leaving out what comes after a run's first non-finite step.

    Args:
        dataset: of the measurement `sharpness`.

    Returns:
        Median, smallest and greatest over the surviving seeds of the edge ratio (above 1 a quadratic loss would be
        unstable), medians of the largest eigenvalue of the whole Hessian and of its recurrent block, the share of the
        block in the whole, and the numbers of seeds.
    """
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    ratio, whole, block = (dataset[name] for name in ("edge_ratio", "sharpness", "recurrent_sharpness"))
    alive = (computed & going(dataset)).transpose(*ratio.dims)
    share = (block / whole).where(whole > 0, 0.0)
    kept = ratio.where(alive)
    result = xr.Dataset(
        {
            "median_edge_ratio": median(ratio, alive),
            "smallest_edge_ratio": kept.min("seed"),
            "greatest_edge_ratio": kept.max("seed"),
            "median_sharpness": median(whole, alive),
            "median_recurrent_sharpness": median(block, alive),
            "median_recurrent_share": median(share, alive),
            "survivors": alive.sum("seed").astype(np.int32),
            "seeds": computed.sum("seed").astype(np.int32),
        }
    )
    names = {
        "median_edge_ratio": "learning rate times curvature over where it is unstable, median over seeds",
        "smallest_edge_ratio": "learning rate times curvature over where it is unstable, smallest over seeds",
        "greatest_edge_ratio": "learning rate times curvature over where it is unstable, greatest over seeds",
        "median_sharpness": "largest Hessian eigenvalue, median over seeds",
        "median_recurrent_sharpness": "largest Hessian eigenvalue of the recurrent weights, median over seeds",
        "median_recurrent_share": "share of the recurrent weights in the largest eigenvalue, median over seeds",
        "survivors": "number of seeds that have not met a non-finite step",
        "seeds": "number of seeds computed",
    }
    return described(result, names)
