"""Training on data: the loss along the run, and the test metric of each map with both of its errors."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("training_curves",)
NEEDS = ("parameterization", "step")
_ALONG = ("parameterization", "step")


def draw(curves: xr.Dataset) -> Figure:
    """Draw two panels for each combination of what else was swept.

    Left the median loss and its range over seeds, right the mean test metric: the thin bar is one standard error over
    the test rows, the thick one over seeds, where there are two of them. A map without a finite metric has no point.

    Args:
        curves: what the analysis `training_curves` returns.
    """
    rows, looks = panels(curves, _ALONG), style.looks(curves["parameterization"].values)
    high = max(2.6, 0.9 + 0.22 * len(looks))
    figure = Figure(figsize=(8.4, 0.9 + high * len(rows)), layout="constrained")
    caption(figure, curves, _ALONG)
    for row, (left, right) in zip(rows, figure.subplots(len(rows), 2, squeeze=False), strict=True):
        for label, look in looks.items():
            one = row.data.sel(parameterization=label)
            left.plot(one["step"], one["median_loss"], **style.line(look))
            left.fill_between(one["step"], one["smallest_loss"], one["greatest_loss"], color=look["color"], alpha=0.15,
                              linewidth=0)  # fmt: skip
        _scores(right, row.data, looks)
        left.set_xlabel(style.label(curves["step"]))
        left.set_ylabel(style.label(curves["median_loss"]))
        right.set_xlabel(style.label(curves["test_metric"]))
        title(left, row.title)
    handles = [Line2D([], [], label=style.text(label), **(look | {"markersize": 4})) for label, look in looks.items()]
    handles += [Line2D([], [], color="0.3", linewidth=width, label=f"standard error over {what}")
                for width, what in ((1.0, "test rows"), (3.0, "seeds"))]  # fmt: skip
    legend(figure, handles)
    return figure


def _scores(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    for place, (label, look) in enumerate(looks.items()):
        one = data.sel(parameterization=label)
        middle = float(one["test_metric"])
        if not np.isfinite(middle):
            continue
        for name, width in (("error_over_rows", 1.0), ("error_over_seeds", 3.0)):
            error = float(one[name])
            if np.isfinite(error):
                axes.plot([middle - error, middle + error], [place, place], color=look["color"], linewidth=width)
        axes.plot(middle, place, color=look["color"], marker=look["marker"], markersize=5)
    axes.set_yticks(range(len(looks)), [style.text(label) for label in looks])
    axes.set_ylim(len(looks) - 0.5, -0.5)
