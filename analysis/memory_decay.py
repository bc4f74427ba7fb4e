"""How memory decays: exponential against polynomial, in what was trained and is remembered, and in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from stablessm.memory.bound import FORGOTTEN, context_bound
from stablessm.memory.decay import KINDS, fit_decay

from ._outcomes import NOT_COMPUTED, described, flags, holds

NEEDS = (
    "seed",
    "step",
    "time",
    "lag",
    "state",
    "memory_function",
    "target_memory_function",
    "context_difference",
    "margin",
    "horizon",
    "outcome",
    "final_loss",
)

_KINDS = (*KINDS, NOT_COMPUTED)
_FIT = ("fitted_decay", "exponential_rate", "polynomial_power", "criterion", "residual", "start_of_fit", "end_of_fit")
_PARTS = ("remembered", "whole")
_CURVE_POINTS = 64

Parts = Sequence[tuple[int, float | None]]


def reduce(dataset: xr.Dataset) -> xr.Dataset:
    """Fit the decay of every memory function, of the target's, and the bound of the context form.

    Args:
        dataset: of the measurement `memory`.

    Returns:
        Along `part` ("remembered" is what was trained on and is not below 1% of the largest sample, "whole" every
        sample there is, down to rounding): the rate of the better family, both families' rates, the criterion that
        decides and its verdict, and the curve of the better family at `curve_time`. Medians over the seeds whose memory
        function could be fitted. What could not be fitted is NaN, and its kind says why. Also beta, a and the effective
        context of the context form, and the slowest decay of the eigenvalues, which is the radius of Theorem 3.1.
    """
    times = dataset["time"].values
    longest = int(dataset["horizon"].max())
    parts = ((longest if longest > 0 else len(times), FORGOTTEN), (len(times), None))
    curve_time = np.unique(np.geomspace(1, times[-1] + 1, _CURVE_POINTS)) - 1
    coordinates = {
        "part": ("part", list(_PARTS), {"long_name": "part of the memory function that is fitted", "units": "1"}),
        "curve_time": ("curve_time", curve_time, {"long_name": "time", "units": "1"}),
    }
    fits = _fits(dataset["memory_function"], times, parts, curve_time)
    target = dataset["target_memory_function"]
    apart = {name: 0 for name in target.dims if name not in ("target", "time")}
    target_fits = _fits(target.isel(apart, drop=True), times, parts, curve_time)
    lags = dataset["lag"].values
    bounds = xr.apply_ufunc(
        lambda row: np.array(context_bound(lags, row)),
        dataset["context_difference"],
        input_core_dims=[["lag"]],
        output_core_dims=[["bound"]],
        vectorize=True,
    )
    computed = ~holds(dataset["outcome"], NOT_COMPUTED)
    kind = fits["fitted_kind"].where(computed, _KINDS.index(NOT_COMPUTED)).astype(np.int8)
    result = xr.Dataset(
        {
            **fits,
            "fitted_kind": kind,
            **{f"target_{name}": values for name, values in target_fits.items()},
            "context_decay": bounds.isel(bound=0),
            "context_amplitude": bounds.isel(bound=1),
            "effective_context": bounds.isel(bound=2).where(computed),
            "slowest_decay": dataset["margin"].min("state"),
            "median_exponential_rate": _median(fits["exponential_rate"]),
            "median_polynomial_power": _median(fits["polynomial_power"]),
            "exponential_seeds": (kind == _KINDS.index("exponential")).sum("seed").astype(np.int32),
            "polynomial_seeds": (kind == _KINDS.index("polynomial")).sum("seed").astype(np.int32),
            "seeds": computed.sum("seed").astype(np.int32),
            "final_loss": dataset["final_loss"],
        },
        coordinates,
    )
    described(result, _names())
    for name in ("fitted_kind", "target_fitted_kind"):
        result[name].attrs |= flags(*_KINDS)
    return result


def _median(rates: xr.DataArray) -> xr.DataArray:
    fitted = rates.notnull()
    return rates.where(fitted.any("seed"), 0.0).median("seed").where(fitted.any("seed"))


def _fits(values: xr.DataArray, times: np.ndarray, parts: Parts, curve_time: np.ndarray) -> dict[str, Any]:
    """Return what is fitted to memory functions along `time`, over parts of so many samples and such a floor."""

    known: dict[bytes, tuple[np.ndarray, ...]] = {}  # models that start alike are fitted once

    def fit(row: np.ndarray) -> tuple[np.ndarray, ...]:
        if row.tobytes() not in known:
            known[row.tobytes()] = fitted(row)
        return known[row.tobytes()]

    def fitted(row: np.ndarray) -> tuple[np.ndarray, ...]:
        known = len(row) - int(np.argmin(np.isnan(row[::-1])))  # samples of a target may end
        found = [fit_decay(times[: min(count, known)], row[: min(count, known)], floor=floor) for count, floor in parts]
        windows = [one.chosen(one.family) if one.windows else None for one in found]
        numbers = [
            (one.rate, one.exponential_rate, one.power, one.criterion, one.residual(one.family),
             *((window.start, window.end) if window else (np.nan, np.nan)))
            for one, window in zip(found, windows, strict=True)
        ]  # fmt: skip
        curves = [
            np.where(curve_time <= times[count - 1], one.curve(curve_time), np.nan)
            for one, (count, _) in zip(found, parts, strict=True)
        ]
        return np.array([KINDS.index(one.kind) for one in found], np.int8), np.array(numbers), np.array(curves)

    kind, numbers, curves = xr.apply_ufunc(
        fit,
        values,
        input_core_dims=[["time"]],
        output_core_dims=[["part"], ["part", "number"], ["part", "curve_time"]],
        vectorize=True,
    )
    named = {name: numbers.isel(number=place) for place, name in enumerate(_FIT)}
    return {"fitted_kind": kind, **named, "fitted_memory_function": curves.astype(np.float32)}


def _names() -> dict[str, str]:
    fit = {
        "fitted_kind": "how the memory function decays",
        "fitted_decay": "rate of the better fit: beta of exp(-beta t), or p of (1 + c t)^-p",
        "exponential_rate": "beta of the exponential fit",
        "polynomial_power": "p of the polynomial fit",
        "criterion": "median of BIC(exponential) - BIC(polynomial), positive where the polynomial is the better fit",
        "residual": "root mean squared residual of the logarithm in the better fit",
        "start_of_fit": "first time of the window whose rate is reported",
        "end_of_fit": "last time of the window whose rate is reported",
        "fitted_memory_function": "memory function of the better fit",
    }
    return {
        **fit,
        **{f"target_{name}": f"{long_name} (target)" for name, long_name in fit.items()},
        "context_decay": "beta of the bound a exp(-beta lag) on the context form",
        "context_amplitude": "a of the bound a exp(-beta lag) on the context form",
        "effective_context": "lag from which on the context form stays below 1% of its largest value",
        "slowest_decay": "smallest distance to instability over the states",
        "median_exponential_rate": "beta of the exponential fit, median over seeds",
        "median_polynomial_power": "p of the polynomial fit, median over seeds",
        "exponential_seeds": "number of seeds whose memory decays exponentially",
        "polynomial_seeds": "number of seeds whose memory decays polynomially",
        "seeds": "number of seeds computed",
        "final_loss": "loss at the end, or the last finite one",
    }
