"""Does a number known at the start say which runs diverge? Area under the curve, with intervals over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ._bootstrap import interval, resamples
from ._outcomes import NOT_COMPUTED, described, holds

NEEDS = (
    "parameterization", "learning_rate", "seed", "step", "outcome", "edge_ratio", "recurrent_sharpness",
    "gradient_to_weight_ratio", "gradient_scale_over_weight", "mode_curvature",
)  # fmt: skip

DIVERGES = ("diverged", "nonfinite", "outside_domain")
PREDICTORS = {
    "learning_rate": "the learning rate alone",
    "gradient_to_weight_ratio": "rate times gradient over weight",
    "gradient_scale_over_weight": "rate times scale of it (theory)",
    "mode_curvature": "rate times curvature of a mode (theory)",
    "recurrent_sharpness": "rate times recurrent sharpness",
    "edge_ratio": "rate times preconditioned sharpness",
}


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Reduce runs to how well each predictor, at step 0, ranks those that diverge above those that do not.

    The area is the probability that a run that diverges has the larger number than one that does not, ties counted
    half. It is 1/2 for a number that says nothing. It is taken over all pairs of runs, and over the pairs with the same
    learning rate, where nothing but map and seed can tell them apart. Intervals draw the seeds again.

    Args:
        dataset: of the measurement `sharpness`.

    Returns:
        Along `predictor`: both areas with their intervals, NaN where there is no pair; the number of runs and of those
        that diverge.
    """
    outcome = dataset["outcome"]
    start = dataset.isel(step=0, drop=True)
    rate = start["learning_rate"]
    scores = {name: (1.0 if name == "edge_ratio" else rate) * start[name] for name in PREDICTORS if name != rate.name}
    scores = {"learning_rate": xr.ones_like(start["edge_ratio"]) * rate, **scores}
    stacked = xr.concat([scores[name] for name in PREDICTORS], "predictor").assign_coords(
        predictor=[*PREDICTORS.values()]
    )
    bad, known = holds(outcome, *DIVERGES), ~holds(outcome, NOT_COMPUTED)
    areas = xr.apply_ufunc(
        _areas,
        stacked,
        bad,
        known,
        input_core_dims=[["parameterization", "learning_rate", "seed"]] * 3,
        output_core_dims=[["pairs", "resample"]],
        vectorize=True,
    )
    result = xr.Dataset({"runs": known.sum(("parameterization", "learning_rate", "seed")).astype(np.int32),
                         "diverging_runs": (bad & known).sum(("parameterization", "learning_rate", "seed"))
                         .astype(np.int32)})  # fmt: skip
    for place, name in enumerate(("area", "area_at_one_rate")):
        one = areas.isel(pairs=place)
        low, high = interval(one.isel(resample=slice(1, None)))
        result = result.assign({name: one.isel(resample=0), f"low_{name}": low, f"high_{name}": high})
    result["predictor"].attrs = {"long_name": "predictor, at the start", "units": "1"}
    names = {
        "runs": "number of runs",
        "diverging_runs": "number of runs that diverge",
        "area": "area under the curve, of all pairs of runs",
        "low_area": "lower end of its 95% interval",
        "high_area": "upper end of its 95% interval",
        "area_at_one_rate": "area under the curve, of pairs with the same learning rate",
        "low_area_at_one_rate": "lower end of its 95% interval",
        "high_area_at_one_rate": "upper end of its 95% interval",
    }
    return described(result, names)


def _areas(scores: np.ndarray, bad: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return both areas, of all seeds first and then of each resample: (2, 1 + resamples)."""
    _, rates, seeds = scores.shape
    rate = np.broadcast_to(np.arange(rates)[None, :, None], scores.shape).ravel()
    seed = np.broadcast_to(np.arange(seeds), scores.shape).ravel()
    flat, positive, negative = scores.ravel(), (bad & known).ravel(), (~bad & known).ravel()
    with np.errstate(invalid="ignore"):
        wins = (flat[positive][:, None] > flat[negative]) + 0.5 * (flat[positive][:, None] == flat[negative])
    same = rate[positive][:, None] == rate[negative]
    of_seed = np.eye(seeds)
    times = np.concatenate([np.ones((1, seeds)), np.apply_along_axis(
        np.bincount, 1, resamples(seeds).values, minlength=seeds)])  # fmt: skip
    found = []
    for pairs in (np.ones_like(wins), same.astype(float)):
        counted, won = (  # of each pair of seeds
            of_seed[seed[positive]].T @ one @ of_seed[seed[negative]] for one in (pairs, pairs * wins)
        )
        number, sum_ = (np.einsum("ra,ab,rb->r", times, one, times) for one in (counted, won))
        with np.errstate(invalid="ignore"):
            found.append(np.where(number > 0, sum_ / number, np.nan))
    return np.array(found)
