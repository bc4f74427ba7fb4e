"""Rank of each map by learning rate, with intervals over seeds, and how much two rankings agree (Kendall's tau)."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("rate_ranks",)
NEEDS = ("parameterization", "learning_rate")
_ALONG = ("parameterization", "learning_rate", "other_rate")


def draw(ranks: xr.Dataset) -> Figure:
    """Draw two panels for each combination of what else was swept.

    Left the ranks, the bars their 95% intervals; a rate at which no map comes to an end has none. Right tau between
    every two rates; white where one of them does not order the maps.

    Args:
        ranks: what the analysis `rate_ranks` returns.
    """
    rows, looks = panels(ranks, _ALONG), style.looks(ranks["parameterization"].values)
    figure = Figure(figsize=(9.4, 0.9 + 3.2 * len(rows)), layout="constrained")
    caption(figure, ranks, _ALONG)
    for row, (left, right) in zip(rows, figure.subplots(len(rows), 2, squeeze=False, width_ratios=(3, 2)), strict=True):
        _ranks(left, row.data, looks)
        title(left, row.title)
        mesh = _tau(right, row.data)
        figure.colorbar(mesh, ax=right, label="Kendall's tau")
    handles = [Line2D([], [], label=style.text(label), **(look | {"markersize": 5})) for label, look in looks.items()]
    legend(figure, handles)
    return figure


def _ranks(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    rate = data["learning_rate"].values
    spread = 1.06 ** (np.arange(len(looks)) - (len(looks) - 1) / 2)
    for factor, (label, look) in zip(spread, looks.items(), strict=True):
        one = data.sel(parameterization=label)
        ranked = one["rank"].values > 0
        axes.vlines(rate[ranked] * factor, one["low_rank"].values[ranked], one["high_rank"].values[ranked],
                    color=look["color"], linewidth=1.4)  # fmt: skip
        axes.plot(rate[ranked] * factor, one["rank"].values[ranked], markersize=5,
                  **(look | {"linestyle": "none"}))  # fmt: skip
    axes.set_xscale("log")
    if len(rate) > 1:
        axes.set_xlim(0.7 * rate.min(), rate.max() / 0.7)
    axes.set_yticks(range(1, len(looks) + 1))
    axes.set_ylim(len(looks) + 0.4, 0.6)
    axes.set_xlabel(style.label(data["learning_rate"]))
    axes.set_ylabel("rank by the loss at the end, 1 the least")


def _tau(axes: Axes, data: xr.Dataset) -> object:
    rate = data["learning_rate"].values
    mesh = axes.imshow(data["tau"].transpose("learning_rate", "other_rate").values, vmin=-1, vmax=1, cmap="PuOr",
                       origin="lower", aspect="equal")  # fmt: skip
    shown = range(0, len(rate), max(1, len(rate) // 5))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(list(shown), [f"{rate[one]:.2g}" for one in shown])
    axes.grid(visible=False)
    axes.set_xlabel(style.label(data["learning_rate"]))
    axes.set_ylabel(style.label(data["learning_rate"]))
    return mesh
