"""Poles against residues: the relative change of the output against time, for equal changes of their weights."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = (
    "parameterization",
    "time",
    "change_by_poles",
    "sampled_change_by_poles",
    "change_by_residues",
    "change_by_mapped_residues",
)
_ALONG = ("parameterization", "time")
_RESIDUES = {"color": "0.35", "linestyle": "-.", "linewidth": 1.4}
_MAPPED = {"color": "0.35", "linestyle": (0, (1, 1.5)), "linewidth": 1.4}
_SAMPLED = {"linestyle": "none", "marker": ".", "markersize": 3.5}
_VIEW = (2e-5, 1e3)


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each combination of what was swept beside the maps.

    Lines are the worst change in the ball, dots the largest over random corners of it. A curve that leaves the panel at
    its top goes on growing.

    Args:
        raw: dataset of the measurement `poles_and_residues`.
    """
    raw = raw[list(NEEDS[2:])]
    every = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    columns = min(3, len(every))
    figure = Figure(figsize=(max(5.6, 4.2 * columns), 1.0 + 3.2 * -(-len(every) // columns)), layout="constrained")
    caption(figure, raw, _ALONG)
    for axes, panel in zip(grid(figure, len(every), columns=columns, sharey=True), every, strict=True):
        later = panel.data.where(panel.data["time"] > 0, drop=True)
        time = later["time"]
        for label, look in looks.items():
            one = later.sel(parameterization=label)
            axes.plot(time, one["change_by_poles"], **style.line(look))
            axes.plot(time[::3], one["sampled_change_by_poles"][::3], color=look["color"], **_SAMPLED)
        shared = later.isel(parameterization=0)
        axes.plot(time, shared["change_by_residues"], **_RESIDUES)
        axes.plot(time, shared["change_by_mapped_residues"].broadcast_like(time), **_MAPPED)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(*_VIEW)
        axes.minorticks_off()
        axes.set_xlabel(style.label(raw["time"]))
        title(axes, panel.title)
    figure.axes[0].set_ylabel("relative change of the response")
    legend(figure, [
        *(Line2D([], [], label=f"poles, {style.text(label)}", **style.line(look)) for label, look in looks.items()),
        Line2D([], [], label="residues", **_RESIDUES),
        Line2D([], [], label="residues under exp", **_MAPPED),
        Line2D([], [], label="poles, random corners", color="0.35", **_SAMPLED),
    ])  # fmt: skip
    return figure
