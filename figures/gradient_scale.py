"""Gradient scale and gradient over weight of each map, over the weight and over the decay (the published Fig. 2)."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = (
    "parameterization",
    "weight",
    "decay",
    "gradient_scale",
    "gradient_over_weight",
    "gradient_scale_of_decay",
    "gradient_over_weight_of_decay",
)
_ALONG = ("parameterization", "weight", "decay")
_KINDS = ("gradient_scale", "gradient_over_weight")
_VIEW = (1e-3, 1e6)  # the curves of direct grow without bound


def draw(raw: xr.Dataset) -> Figure:
    """Draw the four curves of every map; a curve ends where the map does not reach, or is not stable.

    Args:
        raw: dataset of the measurement `gradient_scale`.
    """
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(7.4, 0.7 + 5.2 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    grid = figure.subplots(2 * len(rows), 2, sharey=True, squeeze=False)
    for place, row in enumerate(rows):
        for column, kind in enumerate(_KINDS):
            over_weight, over_decay = grid[2 * place, column], grid[2 * place + 1, column]
            _curves(over_weight, row.data, kind, "weight", looks)
            _curves(over_decay, row.data, f"{kind}_of_decay", "decay", looks)
            over_decay.set_xscale("log")
        title(grid[2 * place, 0], row.title)
    for axes in grid[:, 1]:
        axes.tick_params(labelleft=True)
    legend(figure, *grid[0, 0].get_legend_handles_labels())
    return figure


def _curves(axes: Axes, data: xr.Dataset, name: str, along: str, looks: dict) -> None:
    for label, look in looks.items():
        curve = data[name].sel(parameterization=label)
        axes.plot(
            data[along], curve.where(np.isfinite(curve) & (curve > 0)), label=style.text(label), **style.line(look)
        )
    axes.set_yscale("log")
    axes.set_ylim(*_VIEW)
    style.label_axes(axes, data[along], data[name])
