"""Memory of a training step against the length of the series."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import curves_by_map

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
    return curves_by_map(data, _ALONG, _curves, by="model")


def _curves(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    for label, look in looks.items():
        one = data.sel(model=label)
        words = style.text(str(label).replace("_", " "))
        axes.plot(one["length"], one["step_memory"], **look, markersize=4, label=words)
        end = float(one["length_at_limit"])
        if np.isfinite(end):
            axes.plot(end, _LIMIT, marker="o", markersize=9, markerfacecolor="none", color=look["color"])
    axes.axhline(_LIMIT, color="0.4", linewidth=1.0, linestyle=":", label="8 GB, passed where circled")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    style.label_axes(axes, data["length"], data["step_memory"])
