"""Memory of a training step against the length of the series."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw", "memory_limit")
NEEDS = ("model",)
_ALONG = ("model", "length")
_LIMIT = 8e9


def draw(raw: xr.Dataset, limit: xr.Dataset) -> Figure:
    """Draw a line for each model, and 8 GB as a level; a mark where a model passes it.

    Args:
        raw: dataset of the measurement `step_memory`.
        limit: what the analysis `memory_limit` returns.
    """
    data = xr.merge([raw[["step_memory"]], limit[["length_at_limit"]]])
    found, looks = panels(data, _ALONG), style.looks(data["model"].values)
    columns = min(2, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(max(5.2, 4.2 * columns), 1.2 + 3.2 * rows), layout="constrained")
    caption(figure, data, _ALONG)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for axes, panel in zip(every, found, strict=True):
        for label, look in looks.items():
            one = panel.data.sel(model=label)
            words = style.text(str(label).replace("_", " "))
            axes.plot(one["length"], one["step_memory"], **look, markersize=4, label=words)
            end = float(one["length_at_limit"])
            if np.isfinite(end):
                axes.plot(end, _LIMIT, marker="o", markersize=9, markerfacecolor="none", color=look["color"])
        axes.axhline(_LIMIT, color="0.4", linewidth=1.0, linestyle=":", label="8 GB, passed where circled")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel(style.label(data["length"]))
        axes.set_ylabel(style.label(data["step_memory"]))
        axes.tick_params(labelbottom=True)
        title(axes, panel.title)
    legend(figure, *every[0].get_legend_handles_labels())
    return figure
