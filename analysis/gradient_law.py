"""Gradient over weight against its theoretical scale: how closely it follows, and how far below the bound it stays."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, going, holds

NEEDS = (
    "parameterization", "seed", "step", "state", "outcome", "first_bad_step", "gradient_to_weight_ratio",
    "gradient_scale_over_weight",
)  # fmt: skip

QUANTILES = (0.05, 0.5, 0.95)


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the weights of all seeds, at each step.

    Args:
        dataset: of the measurement `gradient_law`.

    Returns:
        Spearman's correlation of the measured ratio and its scale over the weights of a map, median over seeds; and the
        quantiles over weights and seeds of both, and of the measured over the scale, which is the C of Theorem 3.4.
    """
    from scipy.stats import spearmanr

    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    measured, scale = dataset["gradient_to_weight_ratio"], dataset["gradient_scale_over_weight"]
    kept = (computed & going(dataset)) & np.isfinite(measured) & np.isfinite(scale) & (scale > 0)

    def follows(one: np.ndarray, other: np.ndarray, where: np.ndarray) -> float:
        one, other = one[where], other[where]
        told = where.sum() > 2 and np.ptp(one) > 0 and np.ptp(other) > 1e-4 * other.max()
        return float(spearmanr(one, other).statistic) if told else np.nan

    correlation = xr.apply_ufunc(follows, measured, scale, kept, input_core_dims=[["state"]] * 3, vectorize=True)
    seen = correlation.notnull()
    result = xr.Dataset(
        {
            "correlation": correlation.where(seen.any("seed"), 0.0).median("seed").where(seen.any("seed")),
            "seeds": computed.sum("seed").astype(np.int32),
        }
    )
    constant = measured / scale
    for name, one in {"ratio": measured, "scale": scale, "constant": constant}.items():
        values = one.where(kept).stack(of=("seed", "state")).quantile(QUANTILES, "of", skipna=True)
        result[f"{name}_quantiles"] = values.transpose(..., "quantile")
    result["quantile"].attrs = {"long_name": "quantile", "units": "1"}
    names = {
        "correlation": "Spearman's correlation of gradient over weight and its scale, median over seeds",
        "ratio_quantiles": "gradient over weight, over weights and seeds",
        "scale_quantiles": "theoretical scale of gradient over weight, over weights and seeds",
        "constant_quantiles": "gradient over weight over its scale, over weights and seeds",
        "seeds": "number of seeds computed",
    }
    return described(result, names)
