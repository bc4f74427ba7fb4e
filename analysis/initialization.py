"""What the start of the eigenvalues does to gradient over weight and to the curvature, at the first step."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._bootstrap import interval, median_of_resamples
from ._outcomes import NOT_COMPUTED, described, holds

NEEDS = (
    "parameterization", "initialization", "seed", "step", "outcome", "sharpness", "recurrent_sharpness",
    "gradient_to_weight_ratio", "gradient_scale_over_weight", "mode_curvature", "final_loss",
)  # fmt: skip

_SHOWN = {
    "gradient_to_weight_ratio": "largest gradient over recurrent weight at the start",
    "gradient_scale_over_weight": "its largest theoretical scale at the start",
    "recurrent_sharpness": "recurrent sharpness at the start",
    "sharpness": "sharpness at the start",
}


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the first step over seeds.

    Args:
        dataset: of the measurement `sharpness`.

    Returns:
        Median and interval over seeds of what `_SHOWN` names at step 0, and of the final loss.
    """
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    first = dataset.isel(step=0, drop=True)
    values = {name: first[name] for name in _SHOWN} | {"final_loss": dataset["final_loss"]}
    result, names = xr.Dataset({"seeds": computed.sum("seed").astype(np.int32)}), {"seeds": "number of seeds computed"}
    for name, one in values.items():
        counted = one.where(computed & np.isfinite(one), np.inf)
        low, high = interval(median_of_resamples(counted))
        result = result.assign({f"median_{name}": counted.median("seed"), f"low_{name}": low, f"high_{name}": high})
        about = _SHOWN.get(name, "loss at the end")
        names |= {
            f"median_{name}": f"{about}, median over seeds",
            f"low_{name}": f"{about}, lower end of the 95% interval",
            f"high_{name}": f"{about}, upper end of the 95% interval",
        }
    return described(result, names)
