"""A pointwise network on the two layers with recurrent weights 0 that it is."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = ("time", "network_output", "stack_output", "difference", "input_size")
_ALONG = ("time",)
_COLUMNS = 3


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each combination of what was swept, with the largest difference over all outputs.

    Args:
        raw: dataset of the measurement `pointwise_network`.
    """
    found = panels(raw, _ALONG)
    rows = -(-len(found) // _COLUMNS)
    figure = Figure(figsize=(max(5.4, 0.6 + 3.0 * min(_COLUMNS, len(found))), 0.9 + 2.6 * rows), layout="constrained")
    caption(figure, raw, _ALONG)
    every = grid(figure, len(found), columns=_COLUMNS)
    for axes, panel in zip(every, found, strict=True):
        data = panel.data
        x = data["input_size"]
        axes.plot(x, data["network_output"], color="#E6A000", linewidth=4.0, alpha=0.55, label="network")
        axes.plot(x[::4], data["stack_output"][::4], linestyle="none", marker=".", color="black", markersize=4,
                  label="two layers with recurrent weights 0")  # fmt: skip
        style.label_axes(axes, raw["input_size"], raw["network_output"])
        largest = f"largest difference {float(data['difference'].max()):.2g}"
        title(axes, f"{panel.title}: {largest}" if panel.title else largest)
    legend(figure, *every[0].get_legend_handles_labels())
    return figure
