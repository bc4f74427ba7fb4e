"""Which number known at the start says whether a run diverges: areas under the curve, with intervals over seeds."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("divergence_prediction",)
NEEDS = ("optimizer",)
_ALONG = ("predictor",)
_LOOKS = {
    "area": {"marker": "o", "color": "#000000", "label": "all pairs of runs"},
    "area_at_one_rate": {"marker": "D", "color": "#D55E00", "label": "pairs with the same learning rate"},
}


def draw(areas: xr.Dataset) -> Figure:
    """Draw one panel for each combination of what was swept besides map, learning rate and seed.

    Args:
        areas: what the analysis `divergence_prediction` returns.
    """
    found = panels(areas, _ALONG)
    columns = min(len(found), 2)
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(2.6 + 3.3 * columns, 0.9 + 2.3 * rows), layout="constrained")
    caption(figure, areas, _ALONG)
    for axes, panel in zip(grid(figure, len(found), columns=columns, sharey=True, sharex=True), found, strict=True):
        _panel(axes, panel.data)
        runs, bad = (int(panel.data[name]) for name in ("runs", "diverging_runs"))
        title(axes, f"{panel.title}{', ' if panel.title else ''}{bad} of {runs} diverge")
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("area under the curve")
    legend(figure, [Line2D([], [], linestyle="none", **look) for look in _LOOKS.values()])
    return figure


def _panel(axes: Axes, data: xr.Dataset) -> None:
    places = np.arange(data.sizes["predictor"])
    for shift, (name, look) in zip((-0.13, 0.13), _LOOKS.items(), strict=True):
        low, middle, high = (data[f"{prefix}{name}"].values for prefix in ("low_", "", "high_"))
        axes.hlines(places + shift, low, high, color=look["color"], linewidth=1.6)
        axes.plot(middle, places + shift, linestyle="none", markersize=5, **look)
    axes.axvline(0.5, color="0.4", linewidth=0.8, linestyle=":")
    axes.set_yticks(places, [style.text(one) for one in data["predictor"].values])
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
