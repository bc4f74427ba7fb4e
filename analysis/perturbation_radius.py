"""Where the perturbation error explodes: the smallest beta with an error above 1e6, by map and width; slope in m."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from ._outcomes import NOT_COMPUTED, described, holds

NEEDS = (
    "parameterization", "seed", "width", "error_horizon", "repeat", "beta", "outcome", "trained_decay", "fit_error",
    "largest_perturbation_error", "largest_perturbation_loss", "perturbed_margin",
)  # fmt: skip

THRESHOLD = 1e6  # StableSSM, Fig. 1

# The authors' tables of Fig. 1 (direct and softplus state-space models with a polynomial target, Euler's step,
# 100 steps, 30 repeats), passed through `crossing`. Their S4 never passes the threshold.
PUBLISHED = {
    "direct": {8: 0.0749, 16: 0.0696, 32: 0.0322, 64: 0.00852},
    "softplus": {8: 0.193, 16: 0.0800, 32: 0.208, 64: 0.383},
}


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce the running maximum over beta to the size where it passes the threshold.

    Args:
        dataset: of the measurement `perturbation`.

    Returns:
        For each seed explosion_beta in the W^{1,inf} norm over each horizon, loss_explosion_beta in the sampled loss,
        and unstable_beta, the smallest beta at which a direction makes the model unstable, so that over an infinite
        horizon the error is infinite; each infinite where it does not happen up to the largest beta. Over seeds their
        medians and ranges, the number of seeds, the slowest decay after training, the fit error, and the slope
        d log(explosion_beta) / d log(width) by least squares over widths and seeds, with its standard error and the
        number of finite values it rests on. The published values where there are any, else NaN.
    """
    beta = dataset["beta"].values
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)

    def passed(values: xr.DataArray, threshold: float) -> xr.DataArray:
        found = xr.apply_ufunc(
            lambda one: crossing(beta, one, threshold), values, input_core_dims=[["beta"]], vectorize=True
        )
        return found.where(computed)

    exploded = passed(dataset["largest_perturbation_error"], THRESHOLD)
    margin = dataset["perturbed_margin"].fillna(np.inf).min("repeat")
    result = xr.Dataset(
        {
            "explosion_beta": exploded,
            "loss_explosion_beta": passed(dataset["largest_perturbation_loss"], THRESHOLD),
            "unstable_beta": _first(margin <= 0).where(computed),
            "slowest_decay": dataset["trained_decay"].fillna(np.inf).min("state").where(computed),
        }
    )
    for name in list(result):
        for word, over in (("median", np.median), ("smallest", np.min), ("greatest", np.max)):
            result[f"{word}_{name}"] = _over_seeds(result[name], over)
    result["median_fit_error"] = _over_seeds(dataset["fit_error"].where(computed), np.median)
    result["seeds"] = computed.sum("seed").astype(np.int32)
    slopes = xr.apply_ufunc(
        lambda one: slope(dataset["width"].values, one), exploded,
        input_core_dims=[["width", "seed"]], output_core_dims=[["statistic"]], vectorize=True,
    )  # fmt: skip
    for place, name in enumerate(("width_slope", "width_slope_error", "width_slope_values")):
        result[name] = slopes.isel(statistic=place)
    result["published_explosion_beta"] = _published(dataset)
    what = {
        "explosion_beta": f"beta where the perturbation error passes {THRESHOLD:.0e}",
        "loss_explosion_beta": f"beta where the sampled loss passes {THRESHOLD:.0e}",
        "unstable_beta": "smallest beta with an unstable direction",
        "slowest_decay": "slowest decay after training",
    }
    words = {"median": "median over seeds", "smallest": "smallest over seeds", "greatest": "greatest over seeds"}
    return described(
        result,
        {
            **what,
            **{f"{word}_{name}": f"{text}, {words[word]}" for name, text in what.items() for word in words},
            "median_fit_error": "fit error, median over seeds",
            "seeds": "number of seeds computed",
            "width_slope": "slope of log(explosion beta) in log(width)",
            "width_slope_error": "standard error of the slope in log(width)",
            "width_slope_values": "number of finite explosion betas behind the slope",
            "published_explosion_beta": f"published beta where the sampled loss passes {THRESHOLD:.0e}",
        },
    )


def crossing(beta: np.ndarray, values: np.ndarray, threshold: float) -> float:
    """Return where a running maximum passes a threshold: between two sizes on logarithmic scales, infinite where never.

    Where the smaller size is 0 the larger one is returned, and where the larger value is infinite the geometric mean.

    Args:
        beta: sizes, ascending.
        values: running maximum at each.
        threshold: above 0.
    """
    above = values > threshold
    if not above.any():
        return np.inf
    place = int(np.argmax(above))
    if place == 0 or beta[place - 1] == 0:
        return float(beta[place])
    low, high = np.log(beta[place - 1 : place + 1])
    part = 0.5
    if np.isfinite(values[place]) and values[place - 1] > 0:
        before, after = np.log(np.asarray(values[place - 1 : place + 1], np.float64))
        part = (np.log(threshold) - before) / (after - before)
    return float(np.exp(low + part * (high - low)))


def slope(width: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return slope, standard error and number of values of log(values) against log(width); NaN where undetermined.

    Args:
        width: of shape (widths,).
        values: of shape (widths, seeds); what is not finite is left out.
    """
    kept = np.isfinite(values)
    x, y = np.log(np.broadcast_to(width[:, None], values.shape)[kept]), np.log(values[kept])
    spread = ((x - x.mean()) ** 2).sum() if len(x) else 0.0
    if spread == 0:
        return np.array([np.nan, np.nan, len(x)])
    found = ((x - x.mean()) * y).sum() / spread
    residual = y - y.mean() - found * (x - x.mean())
    error = np.sqrt((residual**2).sum() / (len(x) - 2) / spread) if len(x) > 2 else np.nan
    return np.array([found, error, len(x)])


def _first(holding: xr.DataArray) -> xr.DataArray:
    """Return the smallest beta at which something holds, infinite where it never does."""
    return holding["beta"].where(holding, np.inf).min("beta")


def _over_seeds(values: xr.DataArray, over: Callable[[np.ndarray], float]) -> xr.DataArray:
    """Reduce over the seeds computed; infinities count, and where there is no seed the result is NaN."""

    def reduced(one: np.ndarray) -> float:
        kept = one[~np.isnan(one)]
        return float(over(kept)) if len(kept) else np.nan

    return xr.apply_ufunc(reduced, values, input_core_dims=[["seed"]], vectorize=True)


def _published(dataset: xr.Dataset) -> xr.DataArray:
    known = [
        [PUBLISHED.get(str(label), {}).get(int(width), np.nan) for width in dataset["width"].values]
        for label in dataset["parameterization"].values
    ]
    along = ("parameterization", "width")
    return xr.DataArray(known, {name: dataset[name] for name in along}, along)
