"""Gradient over weight along training: per map the median over seeds of the maximum over the weights, and its range."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting.curves import loses_seeds, ratio_curves
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("ratio_along_training",)
NEEDS = ("parameterization", "step")
_ALONG = ("parameterization", "step")


def draw(ratios: xr.Dataset) -> Figure:
    """Draw one panel for each combination of target, learning rate and whatever else was swept.

    Args:
        ratios: what the analysis `ratio_along_training` returns.
    """
    found = panels(ratios, _ALONG)
    columns = min(len(found), 3 if len(found) <= 12 else 4)
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(max(5.6, 0.6 + 3.4 * columns), 0.8 + 3.0 * rows), layout="constrained")
    caption(figure, ratios, _ALONG)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for place, (axes, panel) in enumerate(zip(every, found, strict=True)):
        ratio_curves(axes, panel.data)
        title(axes, panel.title)
        axes.tick_params(labelbottom=True)
        if place % columns:
            axes.set_ylabel("")
    handles, labels = every[0].get_legend_handles_labels()
    if loses_seeds(ratios):
        handles.append(Line2D([], [], color="0.3", marker="x", linestyle="none"))
        labels.append("a seed meets a non-finite step")
    legend(figure, handles, labels)
    return figure
