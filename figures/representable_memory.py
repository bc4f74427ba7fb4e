"""The longest memory that a number format can hold, by map and link."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "dtype", "longest_memory", "longest_memory_by_subtraction")
_ALONG = ("parameterization", "dtype")
_MARKERS = {"float32": "o", "bfloat16": "s", "float16": "^"}
_APART = 0.24


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each link, in it a row for each map and in that a line for each format.

    The filled mark is 1 / the smallest margin that the map computes, the hollow one what is left of it where the margin
    is taken as 1 minus the multiplier. A mark is at the left edge where no weight has a positive margin.

    Args:
        raw: dataset of the measurement `representable_memory`.
    """
    data = raw[["longest_memory", "longest_memory_by_subtraction"]]
    found = [(panel.title, panel.data) for panel in panels(data, _ALONG)]
    if "link" not in data.dims:  # each map brings a link of its own
        links = list(dict.fromkeys(data["link"].values.tolist())) if "link" in data.coords else [None]
        found = [
            (", ".join(filter(None, [words, f"{link} link" if link else ""])),
             part if link is None else part.isel(parameterization=np.flatnonzero(part["link"].values == link)))
            for words, part in found
            for link in links
        ]  # fmt: skip
    names = list(dict.fromkeys(_name(label) for _, part in found for label in part["parameterization"].values))
    looks = style.looks(names)
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    size = max(5.4, 1.2 + 2.9 * columns), 0.9 + (0.5 + 0.42 * len(names)) * rows
    figure = Figure(figsize=size, layout="constrained")
    caption(figure, data, _ALONG)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for axes, (words, part) in zip(every, found, strict=True):
        _panel(axes, part, names, looks)
        title(axes, words)
        axes.set_xlabel(f"longest memory [{raw['longest_memory'].attrs['units']}]")
        axes.tick_params(labelbottom=True)
    every[0].set_ylim(len(names) - 0.5, -0.5)
    every[0].set_yticks(range(len(names)), [style.text(name) for name in names])
    formats = [str(one) for one in data["dtype"].values]
    legend(figure, [
        *(Line2D([], [], linestyle="none", color="0.25", markersize=5, marker=_MARKERS.get(one, "D"), label=one)
          for one in formats),
        Line2D([], [], color="0.25", marker="o", markersize=5, label="margin computed by the map"),
        Line2D([], [], color="0.25", marker="o", markersize=5, markerfacecolor="white",
               label="margin as 1 - multiplier"),
    ])  # fmt: skip
    return figure


def _panel(axes: Axes, data: xr.Dataset, names: list[str], looks: dict) -> None:
    for label in data["parameterization"].values:
        row, colour = names.index(_name(label)), looks[_name(label)]["color"]
        one = data.sel(parameterization=label)
        for place, name in enumerate(data["dtype"].values):
            own, lost = (np.fmax(float(one[variable].sel(dtype=name)), 1.0)
                         for variable in ("longest_memory", "longest_memory_by_subtraction"))  # fmt: skip
            y = row + _APART * (place - (data.sizes["dtype"] - 1) / 2)
            marker = _MARKERS.get(str(name), "D")
            axes.plot([lost, own], [y, y], color=colour, linewidth=1.0)
            axes.plot(own, y, marker=marker, color=colour, markersize=6.0, clip_on=False)
            axes.plot(lost, y, marker=marker, color=colour, markersize=4.2, markerfacecolor="white", clip_on=False)
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color="0.85", linewidth=0.6)
    axes.set_xscale("log")
    axes.set_xlim(1, 1e39)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _name(label: object) -> str:
    """Return the label of a map without the link that tells it from itself under others."""
    words = str(label)
    for link in ("continuous", "one-minus", "exponential"):
        words = words.removesuffix(f" ({link})")
    return words
