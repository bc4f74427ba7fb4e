"""Claims about the maps themselves: definition, theorems and criterion."""

from __future__ import annotations

import numpy as np
import xarray as xr

from stablessm.claims.record import CONDITIONAL, CONFIRMED, NOT_CONFIRMED, Evidence, Finding

_STABLE = ("exp", "softplus", "best")
_MAPS = ["direct", *_STABLE]


def _by_map(values: xr.DataArray, digits: int = 3) -> str:
    return ", ".join(
        f"{label} {_number(float(one), digits)}"
        for label, one in zip(values["parameterization"].values, values.values, strict=True)
    )


def _number(value: float, digits: int = 3) -> str:
    return "none" if np.isnan(value) else "unbounded" if np.isinf(value) else f"{value:.{digits}g}"


def definition(evidence: Evidence) -> Finding:
    """Whether g is finite for the stable maps and for no other."""
    found = evidence.at("certificates", parameterization=_MAPS, link="continuous", beta=1.0)
    finite = np.isfinite(found["modulus"])
    holds = bool(finite.sel(parameterization=list(_STABLE)).all()) and not bool(finite.sel(parameterization="direct"))
    return Finding(
        CONFIRMED if holds else NOT_CONFIRMED,
        f"continuous time, g(1): {_by_map(found['modulus'].where(finite))}",
    )


def best_moves_least(evidence: Evidence) -> Finding:
    """Whether the modulus of best is the smallest, and from which beta on."""
    found = evidence.at("certificates", parameterization=list(_STABLE), link="continuous")
    slopes, g = found["modulus_slope"], found["modulus"]
    others = g.sel(parameterization=["exp", "softplus"]).min("parameterization")
    wins = (g.sel(parameterization="best") < others).values
    ahead = np.log1p(others.values) - np.log1p(g.sel(parameterization="best").values)  # log(1 + g) of exp is beta
    first = _crossing(found["beta"].values, ahead)
    numbers = f"slope of g at 0: {_by_map(slopes)}"
    if slopes.sel(parameterization="best") <= slopes.min() and wins.all():
        return Finding(CONFIRMED, numbers)
    if wins[-1]:
        return Finding(
            CONDITIONAL, numbers, f"only where weights move by more than beta = {first:.3g}; below, exp moves less"
        )
    return Finding(NOT_CONFIRMED, numbers)


def _crossing(beta: np.ndarray, ahead: np.ndarray) -> float:
    """Where a lead becomes positive, between two sizes in proportion."""
    place = int(np.argmax(ahead > 0))
    if place == 0:
        return float(beta[0])
    low, high = ahead[place - 1 : place + 1]
    return float(beta[place - 1] + (beta[place] - beta[place - 1]) * low / (low - high))


def criterion(evidence: Evidence) -> Finding:
    """Whether the gradient scale over the weight is bounded for best alone."""
    found = evidence.at("certificates", parameterization=_MAPS, link="continuous")["largest_gradient_over_weight"]
    bounded = np.isfinite(found)
    holds = bool(bounded.sel(parameterization="best")) and not bool(bounded.drop_sel(parameterization="best").any())
    return Finding(
        CONFIRMED if holds else NOT_CONFIRMED,
        f"supremum of the gradient scale over the weight: {_by_map(found.where(bounded, np.inf))}",
        "the ratio is not invariant under a shift of the weight: that of exp is infinite at w = 0 by that alone",
    )


def largest_step(evidence: Evidence) -> Finding:
    """Whether the largest stable step stays above 0 for best alone."""
    found = evidence.at("certificates", parameterization=_MAPS, link="continuous", memory_length=1000.0)
    steps, floor = found["stable_step"], found["smallest_stable_step"]
    holds = floor.sel(parameterization="best") > 0 and (floor.drop_sel(parameterization="best").fillna(0) == 0).all()
    return Finding(
        CONFIRMED if holds else NOT_CONFIRMED,
        f"largest stable step of gradient descent on one mode of memory length 1000: {_by_map(steps, 2)}",
    )


def memory_bound(evidence: Evidence) -> Finding:
    """Whether no memory function exceeds the bound."""
    found = evidence.at("memory_bound", "activation", "width", "seed")
    shares = (found["memory_function"] / found["memory_bound"]).max(
        [one for one in found["memory_bound"].dims if one != "layer"]
    )
    layers = ", ".join(
        f"{float(one):.2g} ({int(layer)} {'layers' if layer > 1 else 'layer'})"
        for layer, one in zip(np.atleast_1d(shares["layer"]), np.atleast_1d(shares), strict=True)
    )
    return Finding(
        CONFIRMED if float(shares.max()) <= 1 else NOT_CONFIRMED,
        f"largest share of the bound that a memory function reaches: {layers}",
    )


def gradient_bound(evidence: Evidence) -> Finding:
    """Whether no gradient exceeds the bound, and those of one mode attain it."""
    found = evidence.at("gradient_bound", "parameterization", "link", "activation", "width", "seed")
    mode = found["mode_gradient"] / found["mode_bound"]
    layers = found["gradient"] / found["gradient_bound"]
    shares = layers.max([one for one in layers.dims if one != "layer"])
    numbers = (
        f"one mode: gradient over bound from {float(mode.min()):.6g} to {float(mode.max()):.6g}; in stacks at most "
        + ", ".join(
            f"{float(one):.2g} in layer {int(layer)}" for layer, one in zip(shares["layer"], shares, strict=True)
        )
    )
    holds = float(mode.max()) <= 1 + 1e-4 and float(shares.max()) <= 1
    return Finding(
        CONFIRMED if holds else NOT_CONFIRMED,
        numbers,
        "in discrete time with 1 - |f| in place of the published 1 - f, which fails for negative eigenvalues",
    )


def phase(evidence: Evidence) -> Finding:
    """Whether a free phase moves a mode as little as its decay does."""
    found = evidence.at("mode_perturbation", "width", parameterization=["exp"]).isel(parameterization=0)
    free, scaled, real = (
        float(found[f"{name}_distance"].max()) for name in ("free_phase", "scaled_phase", "recurrent")
    )
    return Finding(
        CONDITIONAL if free > 2 * scaled else CONFIRMED,
        f"largest normalised distance for weights moved by 0.1: decay {real:.3g}, free phase {free:.3g} (4/pi in the "
        f"limit), phase scaled with the decay {scaled:.3g}",
        "for real eigenvalues, or where the phase is scaled with the decay",
    )


def poles(evidence: Evidence) -> Finding:
    """Whether the poles move the late output more than the residues do."""
    found = evidence.at("poles_and_residues", parameterization=_MAPS)
    poles, residues = found["change_by_poles"], found["change_by_residues"].isel(parameterization=0)
    late = found["time"].values[-1]
    at_end = poles.isel(time=-1)
    above = {str(label): bool(poles.sel(parameterization=label)[-1] > residues[-1]) for label in _MAPS}
    crossing = poles["time"].values[int(np.argmax((poles.sel(parameterization="direct") > residues).values))]
    numbers = (
        f"largest relative change at t = {late:g}, weights moved by 0.01: poles {_by_map(at_end, 2)}; "
        f"residues {float(residues[-1]):.2g}"
    )
    if all(above.values()):
        return Finding(CONFIRMED, numbers)
    if above["direct"]:
        return Finding(CONDITIONAL, numbers, f"for direct, from t = {crossing:.3g} on; a stable map removes it")
    return Finding(NOT_CONFIRMED, numbers)
