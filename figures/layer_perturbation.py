"""Perturbation error of S4 layers against the size of the perturbation: Fig. 1's panel of S4, for each map."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import blocks, caption, legend, panels, title

from . import perturbation as fig1

NEEDS = ("parameterization", "width", "seed", "error_horizon", "perturbed", "beta", "largest_perturbation_error")
READS = ("raw",)
_ALONG = ("parameterization", "width", "seed", "error_horizon", "beta")
_MOST_COLUMNS = 5


def draw(raw: xr.Dataset) -> Figure:
    """Draw the median over seeds of the running maximum, over the longest horizon and, thinner, over the shorter ones.

    Args:
        raw: dataset of the measurement `layer_perturbation`.
    """
    data = raw[["largest_perturbation_error"]]
    found, maps = panels(data, _ALONG), data["parameterization"].values
    deep = -(-len(maps) // _MOST_COLUMNS)
    size = max(4.4, 0.7 + 2.35 * -(-len(maps) // deep)), 1.2 + 2.1 * deep * len(found)
    figure = Figure(figsize=size, layout="constrained")
    caption(figure, data, _ALONG)
    names = {"x": style.label(data["beta"]), "y": style.label(data["largest_perturbation_error"])}
    every = blocks(figure, len(found), len(maps), columns=_MOST_COLUMNS, **names)
    colours = fig1._colours(data["width"].values)
    for panel, row in zip(found, every, strict=True):
        for axes, label in zip(row, maps, strict=True):
            fig1._panel(axes, panel.data.sel(parameterization=label), colours)
            fig1._name(axes, style.text(label))
            title(axes, panel.title)
    fig1._scales(every[0][0], data)
    width = style.label(data["width"])
    keys = [Line2D([], [], color=colour, linewidth=2.0, label=f"{width} {one}") for one, colour in colours.items()]
    for place, horizon in enumerate(data["error_horizon"].values[::-1]):
        look = {"linestyle": fig1._DASHES[min(place, len(fig1._DASHES) - 1)], "linewidth": 1.6 if place == 0 else 0.9}
        keys.append(Line2D([], [], color="0.3", label=f"over {horizon} steps", **look))
    keys.append(Line2D([], [], color="0.45", linewidth=0.8, linestyle=":", label="threshold $10^6$"))
    legend(figure, keys)
    return figure
