"""The largest stable gradient-descent step of each map by memory length, tried just below and above."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "decay", "step_ratio", "step", "largest_stable_step", "growth", "distance", "shown_decay")
_ALONG = ("parameterization", "decay", "step_ratio", "step")
_APART = 1.35  # marks are drawn so far from the line, which a step ratio of 0.98 or 1.02 would not show


def draw(raw: xr.Dataset) -> Figure:
    """Draw two panels for each combination of what else was swept.

    Left the largest stable step, 2 / curvature; the marks say what runs at the ratios do: a filled one below the line
    shrinks, a hollow one above it grows. Right those runs at one memory length, step by step.

    Args:
        raw: dataset of the measurement `largest_step`.
    """
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(8.8, 1.1 + 3.3 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    ratios = raw["step_ratio"].values
    every = max(1, raw.sizes["step"] // 10)
    for row, (steps, runs) in zip(rows, figure.subplots(len(rows), 2, squeeze=False), strict=True):
        for place, (label, look) in enumerate(looks.items()):
            one = row.data.sel(parameterization=label)
            _steps(steps, one, look)
            for ratio in ratios:
                run = one["distance"].sel(step_ratio=ratio)
                first = place * every // len(looks)  # the maps run alike: their marks take turns
                runs.plot(run["step"], run.where(np.isfinite(run) & (run > 0)), color=look["color"], linewidth=0.5,
                          marker=look["marker"], markersize=4.0, markevery=(first, every),
                          markerfacecolor="white" if ratio > 1 else look["color"])  # fmt: skip
        for axes in (steps, runs):
            axes.set_yscale("log")
        steps.set_xscale("log")
        for axes in (steps, runs):
            axes.minorticks_off()
        steps.set_xlabel("memory length 1 / decay")
        steps.set_ylabel(style.label(raw["largest_stable_step"]))
        runs.set_xlabel(style.label(raw["step"]))
        runs.set_ylabel(style.label(raw["distance"]))
        title(steps, row.title)
        title(runs, f"decay {float(row.data['shown_decay'].values.ravel()[0]):g}")
    below, above = (" and ".join(f"{one:g}" for one in ratios[chosen]) for chosen in (ratios <= 1, ratios > 1))
    legend(figure, [
        *(Line2D([], [], label=style.text(label), **look) for label, look in looks.items()),
        Line2D([], [], linestyle="none", marker="o", color="0.35", markersize=4, label=f"{below} of it: shrinks"),
        Line2D([], [], linestyle="none", marker="o", color="0.35", markersize=4, markerfacecolor="white",
               label=f"{above} of it: grows"),
    ])  # fmt: skip
    return figure


def _steps(axes: Axes, data: xr.Dataset, look: dict) -> None:
    largest = data["largest_stable_step"]
    axes.plot(1 / data["decay"], largest, **style.line(look))
    for ratio in data["step_ratio"].values:
        growth = data["growth"].sel(step_ratio=ratio)
        away = _APART if ratio > 1 else 1 / _APART
        for grows, face in ((False, look["color"]), (True, "white")):
            chosen = ((growth > 1) if grows else (growth <= 1)).values[::3]
            axes.plot(1 / data["decay"].values[::3][chosen], away * largest.values[::3][chosen], linestyle="none",
                      marker=look["marker"], markersize=3.8, color=look["color"], markerfacecolor=face)  # fmt: skip
