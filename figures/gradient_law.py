"""Gradient over weight against its theoretical scale: every recurrent weight of every seed, at several steps."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("raw",)
NEEDS = ("parameterization", "step", "state", "seed", "gradient_to_weight_ratio", "gradient_scale_over_weight")
_ALONG = ("parameterization", "step", "state", "seed")
_SHADES = ("#fdbe85", "#fd8d3c", "#e6550d", "#a63603", "#4d1a02")
_SHOWN = len(_SHADES)
_LETTERS = 28  # of a title, over a column of 2.15 inches


def draw(raw: xr.Dataset) -> Figure:
    """Draw one column for each map and one row for each combination of what else was swept.

    Where the theory describes the gradient the points of a step lie along a line of slope 1, whose height is C.

    Args:
        raw: dataset of the measurement `gradient_law`.
    """
    data = raw[["gradient_to_weight_ratio", "gradient_scale_over_weight"]]
    rows, maps = panels(data, _ALONG), data["parameterization"].values
    places = np.unique(np.linspace(0, data.sizes["step"] - 1, min(_SHOWN, data.sizes["step"])).round().astype(int))
    figure = Figure(figsize=(max(3.6, 0.9 + 2.15 * len(maps)), 1.0 + 2.6 * len(rows)), layout="constrained")
    caption(figure, data, _ALONG)
    for row, part in zip(rows, np.ravel(figure.subfigures(len(rows), 1)), strict=True):
        part.suptitle(row.title, x=0.01, ha="left", fontsize=8.5)
        every = part.subplots(1, len(maps), squeeze=False, sharey=True, sharex=True)[0]
        for axes, label in zip(every, maps, strict=True):
            one, some = row.data.sel(parameterization=label), False
            for shade, place in zip(_SHADES, places, strict=False):
                x, y = (one[name].isel(step=place).values.ravel()
                        for name in ("gradient_scale_over_weight", "gradient_to_weight_ratio"))  # fmt: skip
                good = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
                some |= bool(good.any())
                axes.plot(x[good], y[good], linestyle="none", marker=".", markersize=2.5, color=shade, rasterized=True)
            if some:
                axes.set_xscale("log")
                axes.set_yscale("log")
            axes.set_title(textwrap.fill(style.text(label), _LETTERS))
            axes.set_xlabel("its scale $|f'|/(f^2|w|)$")
        every[0].set_ylabel("gradient over weight")
    steps = data["step"].values[places]
    legend(figure, [
        Line2D([], [], linestyle="none", marker="o", markersize=4, color=shade, label=f"step {step}")
        for shade, step in zip(_SHADES, steps, strict=False)
    ])  # fmt: skip
    return figure
