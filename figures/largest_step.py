"""Gradient descent just below and above the step that the curvature allows, at every memory length."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "decay", "step_ratio", "step", "growth", "distance", "shown_decay")
_ALONG = ("parameterization", "decay", "step_ratio", "step")


def draw(raw: xr.Dataset) -> Figure:
    """Draw two panels for each combination of what else was swept.

    Left the factor by which the distance to the optimum changes a step, against memory length, and what it is where
    the largest stable step is right: |1 - 2 r| at the ratio r. Right those runs at one memory length, step by step.

    Args:
        raw: dataset of the measurement `largest_step`.
    """
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(8.8, 1.1 + 3.3 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    ratios = raw["step_ratio"].values
    for row, (factors, runs) in zip(rows, figure.subplots(len(rows), 2, squeeze=False), strict=True):
        factors.axhline(1, color="0.6", linewidth=0.8, linestyle=":", zorder=1)
        for ratio in ratios:
            factors.axhline(abs(1 - 2 * ratio), color="0.6", linewidth=0.8, zorder=1)
        for place, (label, look) in enumerate(looks.items()):
            one = row.data.sel(parameterization=label)
            for ratio in ratios:  # the maps run alike: their marks take turns
                chosen = one.sel(step_ratio=ratio)
                _marked(factors, 1 / one["decay"], chosen["growth"], look, ratio > 1, (place, len(looks)))
                every = max(1, raw.sizes["step"] // 10)
                _marked(runs, raw["step"], chosen["distance"], look, ratio > 1, (place * every // len(looks), every))
        factors.set_xscale("log")
        runs.set_yscale("log")
        for axes in (factors, runs):
            axes.minorticks_off()
        factors.set_xlabel("memory length 1 / decay")
        factors.set_ylabel("distance to the optimum after / before a step")
        runs.set_xlabel(style.label(raw["step"]))
        runs.set_ylabel(style.label(raw["distance"]))
        title(factors, row.title)
        title(runs, f"decay {float(row.data['shown_decay'].values.ravel()[0]):g}")
    marked = {"color": "0.35", "linestyle": "none", "marker": "o", "markersize": 4}
    below, above = (" and ".join(f"{one:g}" for one in ratios[chosen]) for chosen in (ratios <= 1, ratios > 1))
    legend(figure, [
        *(Line2D([], [], label=style.text(label), **look) for label, look in looks.items()),
        Line2D([], [], label=f"{below} of the largest stable step", **marked),
        Line2D([], [], label=f"{above} of it", markerfacecolor="white", **marked),
        Line2D([], [], color="0.6", linewidth=0.8, label="|1 - 2 ratio|"),
    ])  # fmt: skip
    return figure


def _marked(
    axes: Axes, along: xr.DataArray, values: xr.DataArray, look: dict, hollow: bool, turns: tuple[int, int]
) -> None:
    """A thin line with the map's marks at every turn; a value of 0 or none is left out."""
    shown = values.where(np.isfinite(values) & (values > 0))
    axes.plot(along, shown, color=look["color"], linewidth=0.5, marker=look["marker"], markersize=4.0,
              markevery=turns, markerfacecolor="white" if hollow else look["color"])  # fmt: skip
