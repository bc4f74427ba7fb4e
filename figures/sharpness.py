"""The edge of stability: learning rate times curvature, over where it is unstable, at the start and at the end."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("edge_of_stability",)
NEEDS = ("parameterization", "learning_rate", "step")
_ALONG = ("parameterization", "learning_rate", "step")


def draw(edges: xr.Dataset) -> Figure:
    """Draw one panel for each combination of what else was swept, of medians over the seeds that are still going.

    Dotted lines are of the first step, marks of the last recorded one. A cross at the foot of the panel says that no
    seed comes so far.

    Args:
        edges: what the analysis `edge_of_stability` returns.
    """
    found, looks = panels(edges, _ALONG), style.looks(edges["parameterization"].values)
    columns = min(len(found), 3)
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(max(5.2, 0.6 + 3.6 * columns), 0.9 + 3.1 * rows), layout="constrained")
    caption(figure, edges, _ALONG)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for place, (axes, panel) in enumerate(zip(every, found, strict=True)):
        _panel(axes, panel.data, looks)
        title(axes, panel.title)
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(style.label(edges["learning_rate"]))
        if place % columns == 0:
            axes.set_ylabel("rate times curvature,\nover where it is unstable")
    handles = [Line2D([], [], label=style.text(label), **look) for label, look in looks.items()]
    handles += [
        Line2D([], [], color="0.35", linestyle=":", label="at the start"),
        Line2D([], [], color="0.35", marker="o", markersize=4, label="at the end, marked"),
    ]
    if (edges["survivors"].isel(step=-1) == 0).any():
        handles.append(Line2D([], [], color="0.35", marker="x", linestyle="none", label="no seed comes to the end"))
    legend(figure, handles)
    return figure


def _panel(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    rate = data["learning_rate"].values
    for place, (label, look) in enumerate(looks.items()):
        one = data.sel(parameterization=label)
        first, last = (one["median_edge_ratio"].isel(step=step) for step in (0, -1))
        axes.plot(rate, first.where(first > 0), color=look["color"], linestyle=":", linewidth=1.0)
        axes.plot(rate, last.where(last > 0), **(look | {"markersize": 4}))
        gone = one["survivors"].isel(step=-1).values == 0
        height = 0.03 + 0.035 * place
        axes.plot(rate[gone], np.full(gone.sum(), height), transform=axes.get_xaxis_transform(), linestyle="none",
                  marker="x", markersize=4, color=look["color"])  # fmt: skip
    axes.axhline(1.0, color="0.2", linewidth=0.9)
    axes.set_xscale("log")
    if (data["median_edge_ratio"] > 0).any():  # an axis without a positive value cannot be logarithmic
        axes.set_yscale("log")
