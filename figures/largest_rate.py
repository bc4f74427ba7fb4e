"""The largest stable learning rate of each map by bisection: every seed, and the median."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = (
    "parameterization",
    "optimizer",
    "seed",
    "largest_stable_learning_rate",
    "smallest_unstable_learning_rate",
    "reentry",
)
_ALONG = ("parameterization", "optimizer", "seed")
_INCHES_A_LETTER = 0.075
_SPREAD = 0.32


def draw(raw: xr.Dataset) -> Figure:
    """Draw one column for each optimiser and, in it, one for each map; a bar is the median over seeds.

    A seed without any stable rate lies at the foot of the panel; one whose highest rate tried is stable has an arrow.

    Args:
        raw: dataset of the measurement `largest_rate`.
    """
    names = ["largest_stable_learning_rate", "smallest_unstable_learning_rate", "reentry"]
    data = raw[names]
    found = panels(data, _ALONG)
    looks = style.looks(data["parameterization"].values)
    columns = 1 if len(found) == 1 else 2
    rows = -(-len(found) // columns)
    width = 1.2 + 0.32 * len(looks) * data.sizes["optimizer"] + 0.5 * data.sizes["optimizer"]
    figure = Figure(figsize=(min(10.0, max(5.0, columns * width)), 0.7 + 3.0 * rows), layout="constrained")
    caption(figure, data, _ALONG)
    for axes, panel in zip(grid(figure, len(found), columns=columns, sharey=True), found, strict=True):
        _panel(axes, panel.data, looks, figure.get_figwidth() / columns)
        title(axes, panel.title)
    handles = [Line2D([], [], linestyle="none", marker=look["marker"], color=look["color"], label=style.text(label))
               for label, look in looks.items()]  # fmt: skip
    handles.append(Line2D([], [], color="0.3", linewidth=2.2, label="median over seeds"))
    largest, unstable = data[names[0]], data[names[1]]
    if (largest == 0).any():
        handles.append(_sign("x", "no stable rate"))
    if np.isinf(unstable).any():
        handles.append(_sign("$↑$", "stable up to the highest rate tried"))
    if (data["reentry"] == 1).any():
        handles.append(_sign("o", "stable again above an unstable rate", markerfacecolor="none", markersize=9))
    legend(figure, handles)
    return figure


def _sign(marker: str, label: str, **look: object) -> Line2D:
    return Line2D([], [], linestyle="none", marker=marker, color="0.3", label=label, **look)


def _panel(axes: Axes, data: xr.Dataset, looks: dict, inches: float) -> None:
    optimizers = data["optimizer"].values
    pitch = 0.8 / len(looks)
    if (data["largest_stable_learning_rate"] > 0).any():  # an axis without a positive value cannot be logarithmic
        axes.set_yscale("log")
    else:
        axes.set_yticks([])
    foot = axes.get_xaxis_transform()
    for column, optimizer in enumerate(optimizers):
        for place, (label, look) in enumerate(looks.items()):
            one = data.sel(optimizer=optimizer, parameterization=label).transpose("seed")
            rates = one["largest_stable_learning_rate"].values
            computed = np.isfinite(rates)
            middle = column + (place - (len(looks) - 1) / 2) * pitch
            x = middle + _SPREAD * pitch * np.linspace(-1, 1, len(rates)) * (len(rates) > 1)
            stable = computed & (rates > 0)
            point = {"color": look["color"], "linestyle": "none"}
            axes.plot(x[stable], rates[stable], marker=look["marker"], markersize=4, alpha=0.75, markeredgewidth=0,
                      **point)  # fmt: skip
            axes.plot(x[rates == 0], np.full((rates == 0).sum(), 0.03), marker="x", transform=foot, **point)
            endless = stable & np.isinf(one["smallest_unstable_learning_rate"].values)
            axes.plot(x[endless], 1.3 * rates[endless], marker="$↑$", markersize=7, **point)
            again = stable & (one["reentry"].values == 1)
            axes.plot(x[again], rates[again], marker="o", markersize=9, markerfacecolor="none", **point)
            median = np.median(rates[computed]) if computed.any() else 0.0
            if median > 0:
                axes.hlines(median, middle - 0.44 * pitch, middle + 0.44 * pitch, color=look["color"], linewidth=2.2)
    letters = max(4, int(inches / len(optimizers) / _INCHES_A_LETTER))
    words = [textwrap.fill(style.text(str(one).replace("_", " ")), letters) for one in optimizers]
    axes.set_xticks(range(len(optimizers)), words)
    axes.set_xlim(-0.5, len(optimizers) - 0.5)
    axes.grid(axis="x", visible=False)
    for edge in range(1, len(optimizers)):
        axes.axvline(edge - 0.5, color="0.85", linewidth=0.6)
    axes.set_ylabel(style.label(data["largest_stable_learning_rate"]))
