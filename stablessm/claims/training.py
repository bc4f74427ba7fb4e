"""Claims about trained models: perturbation errors, learning rates and gradients."""

from __future__ import annotations

import numpy as np
import xarray as xr

from stablessm.claims.record import CONDITIONAL, CONFIRMED, NOT_CONFIRMED, UNDECIDED, Evidence, Finding

_STABLE = ["exp", "softplus", "best"]


def _number(value: float) -> str:
    return "never" if np.isinf(value) else f"{value:.2g}"


def _by_width(values: xr.DataArray) -> str:
    return ", ".join(
        f"m = {int(width)}: {_number(float(one))}" for width, one in zip(values["width"].values, values, strict=True)
    )


def shifts_left(evidence: Evidence) -> Finding:
    """Whether the beta of explosion of direct falls with the width: trained models, and best approximations."""
    trained = evidence.at(
        "perturbation.perturbation_radius", "width", "seed", parameterization="direct", discretisation="euler"
    )
    own, published = trained["median_loss_explosion_beta"], trained["published_explosion_beta"]
    long = evidence.at(
        "perturbation.perturbation_radius", "width", "seed", parameterization="direct", discretisation="zero_order_hold"
    ).isel(error_horizon=-1)
    slope, error = float(long["width_slope"]), float(long["width_slope_error"])
    best = evidence.at("exact_perturbation.exact_radius", "width", parameterization="direct", perturbed="recurrent")
    best = best["explosion_beta"].isel(norm=0)
    numbers = (
        f"trained models, beta where the sampled loss passes 1e6: {_by_width(own)} (published "
        f"{_by_width(published.dropna('width'))}); slope of log beta in log m under zero-order hold over "
        f"{int(long['error_horizon'])} steps {slope:.2f} +- {error:.2f}. Best approximations over an infinite horizon, "
        f"recurrent weights moved: {_by_width(best.sel(extent='infinite'))}; over the horizon of the training "
        f"{_by_width(best.sel(extent='finite'))}"
    )
    if float(own[-1]) < float(own[0]) and slope < -2 * error:
        return Finding(CONFIRMED, numbers)
    infinite = best.sel(extent="infinite")
    if float(infinite[-1]) < float(infinite[0]) / 2:
        return Finding(
            CONDITIONAL,
            numbers,
            "for best approximations over an infinite horizon; over the published 100 steps neither they nor trained "
            "models show it, whose slowest decay stays near the inverse of the horizon at every m",
        )
    return Finding(NOT_CONFIRMED, numbers)


def radius_falls(evidence: Evidence) -> Finding:
    """Whether the stability radius of direct goes to 0 with the width of best approximations, and no other's does."""
    found = evidence.at(
        "exact_perturbation.exact_radius",
        "width",
        "perturbed",
        parameterization=["direct", *_STABLE],
        extent="infinite",
    )["stability_radius"]
    direct, others = found.sel(parameterization="direct"), found.sel(parameterization=_STABLE)
    falls = bool((direct.diff("width") < 0).all()) and float(direct[-1]) < 1e-3 * float(direct[0])
    numbers = f"direct: {_by_width(direct)}; smallest of the stable maps: {_number(float(others.min()))}"
    return Finding(
        CONFIRMED if falls and bool(np.isinf(others).all()) else NOT_CONFIRMED, numbers.replace("never", "infinite")
    )


def never_explodes(evidence: Evidence) -> Finding:
    """Whether no stable map explodes: trained models by discretisation, best approximations by what is perturbed."""
    found = evidence.at("perturbation.perturbation_radius", "discretisation", "width", "seed", parameterization=_STABLE)
    words = {
        f"trained, {str(step).replace('_', ' ')}": _exploding(found["explosion_beta"].sel(discretisation=step))
        for step in found["discretisation"].values
    }
    best = evidence.at("exact_perturbation.exact_radius", "width", "perturbed", parameterization=_STABLE)
    for perturbed in best["perturbed"].values:
        one = best["explosion_beta"].sel(perturbed=perturbed)
        words[f"best approximations, {perturbed} weights moved"] = _exploding(one)
    numbers = "explodes up to the largest beta: " + "; ".join(f"{where}: {what}" for where, what in words.items())
    if all(what == "none" for what in words.values()):
        return Finding(CONFIRMED, numbers)
    if words.get("trained, zero order hold") == words.get("best approximations, recurrent weights moved") == "none":
        return Finding(
            CONDITIONAL,
            numbers,
            "under zero-order hold, whose multipliers no weight can make unstable, and where the recurrent weights "
            "move: the readout of a slow mode is no recurrent weight, and Theorem 3.3 does not cover it",
        )
    return Finding(NOT_CONFIRMED, numbers)


def _exploding(beta: xr.DataArray) -> str:
    """The maps whose error passes the threshold anywhere."""
    found = np.isfinite(beta).any([one for one in beta.dims if one != "parameterization"])
    return ", ".join(map(str, found["parameterization"].values[found.values])) or "none"


def _rates(evidence: Evidence) -> xr.DataArray:
    found = evidence.at(
        "largest_rate", "optimizer", "seed", parameterization=["direct", *_STABLE], width=64, target="polynomial"
    )
    return found["largest_stable_learning_rate"]


def _spread(values: xr.DataArray) -> str:
    low, middle, high = (float(one) for one in (values.min(), values.median(), values.max()))
    return f"{middle:.2g} [{low:.2g}, {high:.2g}]"


def _by_optimizer(rates: xr.DataArray) -> str:
    return "; ".join(
        f"{str(optimizer).replace('_', ' ')}: "
        + ", ".join(
            f"{label} {_spread(rates.sel(optimizer=optimizer, parameterization=label))}"
            for label in rates["parameterization"].values
        )
        for optimizer in rates["optimizer"].values
    )


def larger_rates(evidence: Evidence) -> Finding:
    """Whether the worst stable map survives a larger rate than direct on every seed, by optimiser."""
    rates = _rates(evidence)
    ratios = rates.sel(parameterization=_STABLE).min("parameterization") / rates.sel(parameterization="direct")
    smallest = ratios.min("seed")
    numbers = (
        "largest stable rate of the worst stable map over that of direct, median and range over seeds: "
        + ", ".join(
            f"{str(one).replace('_', ' ')} {_spread(ratios.sel(optimizer=one))}" for one in ratios["optimizer"].values
        )
    )
    if (smallest > 1).all():
        return Finding(CONFIRMED, numbers)
    if (smallest > 1).any():
        condition = f"with {_listed(smallest > 1)}; not on every seed otherwise"
        behind = ratios.median("seed") < 1
        if behind.any():
            condition += f", and with {_listed(behind)} direct survives more on most"
        return Finding(CONDITIONAL, numbers, condition)
    return Finding(NOT_CONFIRMED, numbers)


def _listed(chosen: xr.DataArray) -> str:
    return " and ".join(str(one).replace("_", " ") for one in chosen["optimizer"].values[chosen.values])


def best_largest(evidence: Evidence) -> Finding:
    """Whether best survives a larger rate than exp and softplus on every seed, or alone has the least test loss."""
    rates = _rates(evidence)
    best = rates.sel(parameterization="best")
    others = rates.sel(parameterization=["exp", "softplus"]).max("parameterization")
    wins = ((best > others).mean("seed")).to_series()
    losses = evidence.at("generalisation.rate_ranks", "learning_rate", parameterization=["direct", *_STABLE])
    alone = losses["high_rank"].sel(parameterization="best") == 1  # first in every interval over seeds
    first = losses["learning_rate"].values[alone.values]
    numbers = f"largest stable rate, medians and ranges over seeds: {_by_optimizer(rates)}"
    for rate in first:
        numbers += f"; test loss at the rate {rate:.2g}: " + ", ".join(
            f"{label} {float(losses['median_loss'].sel(parameterization=label, learning_rate=rate)):.2g}"
            for label in losses["parameterization"].values
        )
    if (wins == 1).all():
        return Finding(CONFIRMED, numbers)
    with_all = [str(one).replace("_", " ") for one, share in wins.items() if share == 1]
    if with_all:
        return Finding(CONDITIONAL, numbers, f"with {', '.join(with_all)}")
    some = "best is ahead on some seeds only" if (wins > 0).any() else "best is ahead on no seed"
    if first.size and first[-1] >= 1:  # where runs begin to be lost, and not where none has got anywhere
        at = " and ".join(f"{rate:.2g}" for rate in first)
        return Finding(CONDITIONAL, numbers, f"by test loss at the rates {at}; by the largest stable rate {some}")
    return Finding(NOT_CONFIRMED, numbers, some)


def smooth(evidence: Evidence) -> Finding:
    """Whether the ratio of best is the smallest most of the time, and changes least from step to step."""
    found = evidence.at("gradient_ratio.ratio_along_training", parameterization=["direct", *_STABLE])["median_ratio"]
    rough = np.abs(np.log(found).diff("step")).max("step")
    smallest = (found.argmin("parameterization") == list(found["parameterization"].values).index("best")).mean()
    numbers = "largest step-to-step change of log(gradient over weight): " + ", ".join(
        f"{label} {float(one):.2g}" for label, one in zip(rough["parameterization"].values, rough, strict=True)
    )
    numbers += f"; best has the smallest ratio at {100 * float(smallest):.0f}% of the recorded steps"
    holds = (
        str(rough["parameterization"].values[int(rough.argmin("parameterization"))]) == "best" and float(smallest) > 0.5
    )
    return Finding(CONFIRMED if holds else NOT_CONFIRMED, numbers)


def direct_fails(evidence: Evidence) -> Finding:
    """Whether direct, at its best rate, is behind the stable maps by more than the noise."""
    found = evidence.at("digits.accuracy", "learning_rate", parameterization=["direct", *_STABLE])
    accuracy, error = found["best_accuracy"], found["best_accuracy_error"]
    numbers = "test accuracy on digits at the best rate: " + ", ".join(
        f"{label} {float(one):.3f} +- {float(other):.3f}"
        for label, one, other in zip(accuracy["parameterization"].values, accuracy, error, strict=True)
    )
    gap = accuracy.drop_sel(parameterization="direct").min() - accuracy.sel(parameterization="direct")
    if float(gap) > 0.1:
        return Finding(CONFIRMED, numbers)
    noise = 2 * float(np.hypot(error.sel(parameterization="direct"), error.drop_sel(parameterization="direct").max()))
    if abs(float(gap)) > noise:
        return Finding(UNDECIDED, numbers)
    return Finding(
        NOT_CONFIRMED, numbers, "from the same eigenvalues; the published baseline starts at the unstable +0.5"
    )


def nonlinear(evidence: Evidence) -> Finding:
    """Whether direct moves more than the stable maps, by what is perturbed."""
    found = evidence.at("nonlinear_perturbation", "activation", "perturbed", parameterization=["direct", *_STABLE])
    moved = found["largest_perturbation_distance"].sel(beta=0.01, method="nearest")
    moved = moved.max("activation")
    recurrent, every = moved.sel(perturbed="recurrent"), moved.sel(perturbed="all")
    ratio = float(recurrent.sel(parameterization="direct") / recurrent.sel(parameterization=_STABLE).max())
    other = float(every.sel(parameterization="direct") / every.sel(parameterization=_STABLE).max())
    numbers = (
        f"weights moved by 0.01, error of direct over the largest of the stable maps: {ratio:.2g} (recurrent weights), "
        f"{other:.2g} (all weights)"
    )
    if ratio > 2 and other > 2:
        return Finding(CONFIRMED, numbers)
    if ratio > 2:
        return Finding(
            CONDITIONAL, numbers, "where the recurrent weights alone move; with all of them the readout decides"
        )
    return Finding(NOT_CONFIRMED, numbers)
