"""Training on data of several lengths: the test metric of each map against the length, with both of its errors."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("training_curves",)
NEEDS = ("parameterization", "length", "step")
_ALONG = ("parameterization", "length")


def draw(curves: xr.Dataset) -> Figure:
    """Draw one panel for each combination of what else was swept.

    The thin bar is one standard error over the test rows, the thick one over seeds, where there are two of them. A map
    without a finite metric has no point.

    Args:
        curves: what the analysis `training_curves` returns.
    """
    curves = curves.drop_dims("step").sortby("length")
    found, looks = panels(curves, _ALONG), style.looks(curves["parameterization"].values)
    columns = min(3, len(found))
    figure = Figure(figsize=(1.2 + 3.6 * columns, 0.9 + 3.0 * -(-len(found) // columns)), layout="constrained")
    caption(figure, curves, _ALONG)
    for axes, panel in zip(grid(figure, len(found), columns=columns, sharey=True), found, strict=True):
        _metrics(axes, panel.data, looks)
        title(axes, panel.title)
    handles = [Line2D([], [], label=style.text(label), **(look | {"markersize": 4})) for label, look in looks.items()]
    handles += [Line2D([], [], color="0.3", linewidth=width, label=f"standard error over {what}")
                for width, what in ((1.0, "test rows"), (3.0, "seeds"))]  # fmt: skip
    legend(figure, handles)
    return figure


def _metrics(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    apart = 0.05 / len(looks)  # octaves, so that the bars of the maps show side by side
    for place, (label, look) in enumerate(looks.items()):
        one = data.sel(parameterization=label)
        x = one["length"].values * 2.0 ** (apart * (place - (len(looks) - 1) / 2))
        middle = one["test_metric"].values
        axes.plot(x, np.where(np.isfinite(middle), middle, np.nan), **(look | {"markersize": 4.5}))
        for name, width in (("error_over_rows", 1.0), ("error_over_seeds", 3.0)):
            error = np.where(np.isfinite(one[name]), one[name], 0.0)
            axes.vlines(x, middle - error, middle + error, color=look["color"], linewidth=width)
    axes.set_xscale("log", base=2)
    axes.set_xticks(data["length"].values, [f"{length:d}" for length in data["length"].values])
    axes.minorticks_off()
    style.label_axes(axes, data["length"], data["test_metric"])
