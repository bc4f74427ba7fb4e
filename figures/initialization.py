"""What the start of the eigenvalues does to gradient over weight, to the curvature and to the loss in the end."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("initialization",)
NEEDS = ("parameterization", "initialization")
_ALONG = ("parameterization", "initialization")
_SHOWN = {
    "gradient_to_weight_ratio": "largest gradient over weight",
    "recurrent_sharpness": "recurrent sharpness",
    "sharpness": "sharpness",
    "final_loss": "loss at the end",
}


def draw(starts: xr.Dataset) -> Figure:
    """Draw medians over seeds with 95% intervals, four panels for each combination of what else was swept.

    Args:
        starts: what the analysis `initialization` returns.
    """
    rows, looks = panels(starts, _ALONG), style.looks(starts["parameterization"].values)
    figure = Figure(figsize=(10.0, 1.0 + 2.7 * len(rows)), layout="constrained")
    caption(figure, starts, _ALONG)
    for row, every in zip(rows, figure.subplots(len(rows), len(_SHOWN), squeeze=False), strict=True):
        for axes, (name, words) in zip(every, _SHOWN.items(), strict=True):
            _panel(axes, row.data, name, looks)
            title(axes, words)
        if row.title:
            every[0].set_ylabel(row.title)
    handles = [Line2D([], [], linestyle="none", marker=look["marker"], color=look["color"], label=style.text(label))
               for label, look in looks.items()]  # fmt: skip
    legend(figure, handles)
    return figure


def _panel(axes: Axes, data: xr.Dataset, name: str, looks: dict) -> None:
    starts = data["initialization"].values
    pitch = 0.7 / len(looks)
    for place, (label, look) in enumerate(looks.items()):
        one = data.sel(parameterization=label)
        low, middle, high = (one[f"{prefix}_{name}"].values for prefix in ("low", "median", "high"))
        x = np.arange(len(starts)) + (place - (len(looks) - 1) / 2) * pitch
        good = np.isfinite(middle) & (middle > 0)
        top = np.where(np.isfinite(high), high, middle)
        axes.vlines(x[good], low[good], top[good], color=look["color"], linewidth=1.5)
        axes.plot(x[good], middle[good], linestyle="none", marker=look["marker"], color=look["color"], markersize=5)
    if (data[f"median_{name}"] > 0).any():
        axes.set_yscale("log")
    axes.set_xticks(range(len(starts)), [style.text(str(one).replace("_", "-")) for one in starts], rotation=20)
    axes.set_xlim(-0.5, len(starts) - 0.5)
    axes.grid(axis="x", visible=False)
