"""Error of the best m-mode approximations against m, by method, and how slow their slowest mode is."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw", "approximation_law")
NEEDS = ("target", "seed", "extent", "fit", "law", "expected_law", "expected_decay_law")
_ALONG = ("extent", "fit", "width", "stop")
_METHODS = {
    "best": ("best decays", {"color": "#009E73", "marker": "D", "linestyle": "-"}),
    "given_signed": ("log-spaced decays", {"color": "#0072B2", "marker": "s", "linestyle": "--"}),
    "given_nonnegative": (
        "log-spaced, not negative",
        {"color": "#E69F00", "marker": "x", "linestyle": "none"},
    ),
    "rational": ("AAA on the transform", {"color": "#CC79A7", "marker": "^", "linestyle": "-."}),
}
_STOPS = {
    "steps": ("trained", {"color": "0.25", "marker": "o", "linestyle": "-"}),
    "previous_width": (
        "trained to the loss of the width before",
        {"color": "0.55", "marker": "v", "linestyle": ":"},
    ),
}
_LAW = {"color": "0.35", "linestyle": (0, (1, 1.2)), "linewidth": 1.0}
_EXPECTED = {"color": "#009E73", "linestyle": (0, (6, 2)), "linewidth": 0.9}
_LOWEST = 1e-16


def draw(raw: xr.Dataset, found: xr.Dataset) -> Figure:
    """Draw medians over the seeds: for each combination of what else was swept a panel for each extent, one of decays.

    The width is spaced by its root, so that a root-exponential law is a straight line. A law is drawn through the first
    width it was fitted on: dotted what is proved, dashed what is expected of best decays. Best fits go on level where
    they are exact to rounding. Right the slowest decay of the best fits and of the trained models.

    Args:
        raw: dataset of the measurement `approximation`.
        found: what the analysis `approximation_law` returns.
    """
    rows, rates = (panels(one.median("seed", keep_attrs=True), _ALONG) for one in (raw, found))
    extents = raw["extent"].values.tolist()
    columns = len(extents) + 1
    figure = Figure(figsize=(1.2 + 3.3 * columns, 1.3 + 2.9 * len(rows)), layout="constrained")
    caption(figure, raw, (*_ALONG, "seed"))
    every = figure.subplots(len(rows), columns, squeeze=False)
    for axes_row, row, rate in zip(every, rows, rates, strict=True):
        for axes, extent in zip(axes_row, extents, strict=False):
            _errors(axes, row.data.sel(extent=extent), rate.data.sel(extent=extent), extent)
            words = f"{extent} horizon" if extent != "averaged" else "finite, averaged from rest"
            title(axes, f"{words}, {row.title}" if row.title else words)
        _decays(axes_row[-1], row.data, extents)
        title(axes_row[-1], f"slowest decay, {row.title}" if row.title else "slowest decay")
    looks = [*_METHODS.values(), *_STOPS.values()]
    keys = [Line2D([], [], label=words, markersize=4.5, **look) for words, look in looks]
    keys.append(Line2D([], [], label="rate of the proved bound", **_LAW))
    keys.append(Line2D([], [], label="rate expected of best decays", **_EXPECTED))
    legend(figure, keys)
    return figure


def _errors(axes: Axes, data: xr.Dataset, rate: xr.Dataset, extent: str) -> None:
    width = data["width"].values
    for name, (_, look) in _METHODS.items():
        if name in data["fit"].values:
            drawn = np.maximum(data["approximation_error"].sel(fit=name).values, _LOWEST)
            axes.plot(width, drawn, markersize=4.5, linewidth=1.3, **look)
    for name, (_, look) in _STOPS.items():
        middle = data["trained_error"].sel(stop=name).values
        axes.plot(width, middle, markersize=3.5, linewidth=1.0, **look)
    best = data["approximation_error"].sel(fit="best").values if "best" in data["fit"].values else None
    if best is not None and np.isfinite(float(rate["law"])):
        first = min(int(np.searchsorted(width, 4)), len(width) - 1)
        size = np.sqrt(width) if extent == "infinite" else width.astype(float)
        _line(axes, width, best[first] * np.exp(-float(rate["law"]) * (size - size[first])), _LAW)
        if extent == "infinite":
            _line(axes, width, best[first] * np.exp(-float(rate["expected_law"]) * (size - size[first])), _EXPECTED)
    _scales(axes, width)
    axes.set_ylim(_LOWEST / 3, 3.0)
    axes.set_ylabel(style.label(data["approximation_error"]))


def _decays(axes: Axes, data: xr.Dataset, extents: list[str]) -> None:
    width = data["width"].values
    for extent, dashes, below in zip(extents, ("-", "--", ":"), (3, -11, -20), strict=False):
        if "best" in data["fit"].values:
            one = data.sel(extent=extent, fit="best")
            axes.plot(width, one["slowest_decay"], color="#009E73", marker="D", markersize=4, linestyle=dashes)
            place = len(width) // 2
            at, words = (width[place], float(one["slowest_decay"][place])), f"best, {extent}"
            axes.annotate(words, at, (5, below), textcoords="offset points", fontsize=7.5, color="#00664b")
    for name, (_, look) in _STOPS.items():
        middle = data["trained_slowest_decay"].sel(stop=name).values
        axes.plot(width, middle, markersize=3.5, linewidth=1.0, **look)
    rate = float(data["expected_decay_law"])
    if np.isfinite(rate) and {"best", "infinite"} <= {*data["fit"].values.tolist(), *extents}:
        first = min(int(np.searchsorted(width, 4)), len(width) - 1)
        best = float(data["slowest_decay"].sel(extent="infinite", fit="best")[first])
        _line(axes, width, best * np.exp(-rate * (np.sqrt(width) - np.sqrt(width[first]))), _EXPECTED)
    _scales(axes, width)
    axes.set_ylabel(style.label(data["slowest_decay"]))


def _line(axes: Axes, width: np.ndarray, values: np.ndarray, look: dict) -> None:
    axes.plot(width, np.where(values > _LOWEST / 100, values, np.nan), **look)


def _scales(axes: Axes, width: np.ndarray) -> None:
    axes.set_yscale("log")
    axes.set_xscale("function", functions=(lambda m: np.sqrt(np.maximum(m, 0)), np.square))
    axes.set_xlim(width[0] * 0.5, width[-1] * 1.08)
    shown = [one for one in width.tolist() if one & (one - 1) == 0] or width.tolist()
    axes.set_xticks(shown, [str(one) for one in shown])
    axes.minorticks_off()
    axes.set_xlabel("m")
