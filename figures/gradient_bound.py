"""Gradients of recurrent weights against the bound of Theorem 3.4: one mode, and every layer of a stack."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "seed", "decay", "layer", "state", "mode_gradient", "mode_bound", "gradient",
         "gradient_bound")  # fmt: skip
_ALONG = ("parameterization", "seed", "decay", "layer", "state")
_LAYERS = ("o", "^", "s", "D", "v", "P")
_DECADES = 8  # below the largest gradient


def draw(raw: xr.Dataset) -> Figure:
    """Draw two panels for each combination of what else was swept.

    Left the gradient of one mode (marks) on the bound (line), which it attains at every decay. Right each recurrent
    weight of a stack, a mark for its layer: none lies above the line where gradient and bound are equal.

    Args:
        raw: dataset of the measurement `gradient_bound`.
    """
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(8.4, 0.9 + 3.3 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    for row, (mode, stack) in zip(rows, figure.subplots(len(rows), 2, squeeze=False), strict=True):
        for label, look in looks.items():
            one = row.data.sel(parameterization=label)
            _mode(mode, one.isel(seed=0), look)
            _stack(stack, one, look["color"])
        for axes in (mode, stack):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.minorticks_off()  # most of the time of drawing
        style.label_axes(mode, raw["decay"], raw["mode_gradient"])
        style.label_axes(stack, raw["gradient_bound"], raw["gradient"])
        bound, seen = row.data["gradient_bound"].values, row.data["gradient"].values
        bound, seen = bound[np.isfinite(bound) & (bound > 0)], seen[np.isfinite(seen) & (seen > 0)]
        if bound.size and seen.size:
            ends = np.array([bound.min(), bound.max()])
            stack.plot(ends, ends, color="0.3", linewidth=0.9, zorder=1)
            stack.set_ylim(max(seen.min() / 2, ends[1] * 10.0**-_DECADES), 2 * ends[1])
        title(mode, row.title)
    maps = [Line2D([], [], label=style.text(label), **look) for label, look in looks.items()]
    layers = [
        Line2D([], [], linestyle="none", color="0.35", marker=_LAYERS[place % len(_LAYERS)], label=f"layer {layer}")
        for place, layer in enumerate(raw["layer"].values)
    ]
    legend(figure, [*maps, *layers, Line2D([], [], color="0.3", linewidth=0.9, label="gradient = bound")])
    return figure


def _mode(axes: Axes, data: xr.Dataset, look: dict) -> None:
    axes.plot(data["decay"], _positive(data["mode_bound"]), **style.line(look))
    axes.plot(data["decay"][::4], _positive(data["mode_gradient"])[::4], linestyle="none", color=look["color"],
              marker=look["marker"], markersize=4.5)  # fmt: skip


def _stack(axes: Axes, data: xr.Dataset, colour: str) -> None:
    for place in range(data.sizes["layer"]):
        one = data.isel(layer=place)
        axes.plot(_positive(one["gradient_bound"]).ravel(), _positive(one["gradient"]).ravel(), linestyle="none",
                  marker=_LAYERS[place % len(_LAYERS)], markersize=3.5, color=colour, alpha=0.7)  # fmt: skip


def _positive(values: xr.DataArray) -> np.ndarray:
    return values.where(np.isfinite(values) & (values > 0)).values
