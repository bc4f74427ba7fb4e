"""Claims about learning rates: what large ones bring, who survives them, and what predicts who does not."""

from __future__ import annotations

import numpy as np
import xarray as xr

from stablessm.claims.record import CONDITIONAL, CONFIRMED, NOT_CONFIRMED, Evidence, Finding, MissingEvidence

_STABLE = ["exp", "softplus", "best"]
_MAPS = ["direct", *_STABLE]


def large_rates_help(evidence: Evidence) -> Finding:
    """Whether the least test loss and the fewest steps lie above the middle of the rates tried, for every map."""
    found = evidence.at("generalisation.convergence", "learning_rate", parameterization=_MAPS)
    rates = found["learning_rate"].values
    small = float(rates[rates <= 1.01e-3].max())
    at_small = found.sel(learning_rate=small)
    best, where = found["least_test_loss"], found["rate_of_least_test_loss"]
    largest = found["median_test_loss"].isel(learning_rate=-1)
    parts = [
        f"{label}: test loss {_value(at_small['median_test_loss'], label)} at {small:.0e}, least "
        f"{_value(best, label)} at {_value(where, label)}, {_value(largest, label)} at {rates[-1]:g}; steps to 1% "
        f"{_value(at_small['median_steps'], label)} at {small:.0e}, least {_value(found['least_steps'], label)}"
        for label in _MAPS
    ]
    helps = bool((where > small).all() and (best < at_small["median_test_loss"]).all())
    faster = bool((found["least_steps"] < at_small["median_steps"]).all())
    if not (helps and faster):
        return Finding(NOT_CONFIRMED, "; ".join(parts))
    if (largest > best).all():
        return Finding(CONDITIONAL, "; ".join(parts), "up to an edge, beyond which the loss rises again for every map")
    return Finding(CONFIRMED, "; ".join(parts))


def recurrent_rate_needless(evidence: Evidence) -> Finding:
    """Whether a smaller rate of the recurrent weights helps direct, and no stable map."""
    found = evidence.at("recurrent_rate.recurrent_rate", "recurrent_rate", "learning_rate", parameterization=_MAPS)
    small = found.sel(recurrent_rate=0.1, method="nearest")
    equal = found.sel(recurrent_rate=1.0, method="nearest")
    helped = small["high_loss_ratio"] < 1
    stabler = small["largest_stable_rate"] > 1.01 * equal["largest_stable_rate"]
    numbers = (
        "best loss at a tenth of the rate over that at the same: "
        + ", ".join(
            f"{label} {_value(small['loss_ratio'], label)} [{_value(small['low_loss_ratio'], label)}, "
            f"{_value(small['high_loss_ratio'], label)}]"
            for label in _MAPS
        )
        + "; largest stable rate: "
        + ", ".join(
            f"{label} {_value(small['largest_stable_rate'], label)} instead of "
            f"{_value(equal['largest_stable_rate'], label)}"
            for label in _MAPS
        )
    )
    stable_need = bool((helped | stabler).sel(parameterization=_STABLE).any())
    if stable_need:
        return Finding(NOT_CONFIRMED, numbers)
    if bool(helped.sel(parameterization="direct")):
        return Finding(CONFIRMED, numbers)
    if bool(stabler.sel(parameterization="direct")):
        return Finding(
            CONDITIONAL, numbers, "as far as stability goes: a smaller recurrent rate improves no map's best loss"
        )
    return Finding(NOT_CONFIRMED, numbers, "not even direct needs one here")


def ratio_predicts(evidence: Evidence) -> Finding:
    """Whether gradient over weight tells diverging runs apart at one rate, and better than the curvature does."""
    found = evidence.at("sharpness.divergence_prediction", "optimizer")
    ratio, curvature = "rate times gradient over weight", "rate times recurrent sharpness"
    scale = "rate times scale of it (theory)"
    area, low, high = (found[f"{end}area_at_one_rate"] for end in ("", "low_", "high_"))

    def said(name: str, optimizer: object) -> str:
        ends = (float(one.sel(predictor=name, optimizer=optimizer)) for one in (area, low, high))
        return "{:.2f} [{:.2f}, {:.2f}]".format(*ends)

    optimizers = found["optimizer"].values
    numbers = "area under the curve among runs of one rate: " + "; ".join(
        f"{str(one).replace('_', ' ')}: gradient over weight {said(ratio, one)}, its theoretical scale "
        f"{said(scale, one)}, recurrent sharpness {said(curvature, one)}"
        for one in optimizers
    )
    sure = [one for one in optimizers if float(low.sel(predictor=ratio, optimizer=one)) > 0.5]
    ahead = all(
        float(area.sel(predictor=ratio, optimizer=one)) >= float(area.sel(predictor=curvature, optimizer=one))
        for one in optimizers
    )
    if len(sure) == len(optimizers) and ahead:
        return Finding(CONFIRMED, numbers)
    if sure:
        return Finding(
            CONDITIONAL,
            numbers,
            f"under {' and '.join(str(one).replace('_', ' ') for one in sure)}"
            + ("" if ahead else ", where the curvature predicts better"),
        )
    return Finding(NOT_CONFIRMED, numbers)


def rankings_change(evidence: Evidence) -> Finding:
    """Whether a map's ranks at two rates differ by more than the seeds explain."""
    found = evidence.at("generalisation.rate_ranks", "parameterization", "learning_rate")
    low, high, ranked = found["low_rank"], found["high_rank"], found["rank"] > 0
    moved = (low.where(ranked).max("learning_rate") > high.where(ranked).min("learning_rate")).sel(
        parameterization=_MAPS
    )
    sure = ", ".join(moved["parameterization"].values[moved.values]) or "none"
    tau = found["tau"].transpose("learning_rate", "other_rate").values
    pairs = tau[np.triu_indices(len(tau), 1)]
    pairs = pairs[np.isfinite(pairs)]
    numbers = (
        f"mean Kendall's tau over {len(pairs)} pairs of rates {pairs.mean():.2f}; "
        f"{100 * (pairs <= 0).mean():.0f}% of them 0 or below; maps whose rank changes by more than "
        f"its interval over seeds: {sure}"
    )
    return Finding(CONFIRMED if moved.any() else NOT_CONFIRMED, numbers)


def through_minus_one(evidence: Evidence) -> Finding:
    """Whether best with b = 1/2 in discrete time loses rate to best with b = 1, whose eigenvalue stays above 0."""
    rates = evidence.at("discrete_rates.rate_ranking", "optimizer", "parameterization", link="one-minus")
    half, whole = (rates.sel(parameterization=label) for label in _labels(rates))
    mode = evidence.at("one_mode", "learning_rate", parameterization="best", link="one-minus")
    least = float(mode["smallest_eigenvalue"].min())
    loses = half["high_largest_rate"] < whole["low_largest_rate"]
    numbers = (
        f"one mode: the eigenvalue comes within {1 + least:.1g} of -1; 64 modes, largest stable rate: "
        + ", ".join(
            f"{str(one).replace('_', ' ')} {float(half['median_largest_rate'].sel(optimizer=one)):.2g} (b = 1/2) and "
            f"{float(whole['median_largest_rate'].sel(optimizer=one)):.2g} (b = 1)"
            for one in rates["optimizer"].values
        )
    )
    if loses.all():
        return Finding(CONFIRMED, numbers)
    if 1 + least < 1e-3:
        return Finding(CONDITIONAL, numbers, "for one mode; among 64 the other weights set the limit")
    return Finding(NOT_CONFIRMED, numbers)


def _labels(rates: xr.Dataset) -> tuple[str, str]:
    wanted = "best", "best (b=1)"
    if not set(wanted) <= set(map(str, rates["parameterization"].values)):
        raise MissingEvidence("the dataset discrete_rates.rate_ranking holds no best with b = 1/2 and b = 1")
    return wanted


def _value(values: xr.DataArray, label: str) -> str:
    one = float(values.sel(parameterization=label))
    return "never" if np.isinf(one) else "none" if np.isnan(one) else f"{one:.2g}"
