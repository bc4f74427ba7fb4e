"""The maps: decay, eigenvalue and margin over the raw weight."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "weight", "decay", "eigenvalue", "margin")
_ALONG = ("parameterization", "weight")
_VIEW = 4.0  # curves are cut where they leave it: an exponential would flatten all others
_SMALLEST_MARGIN = 1e-5


def draw(raw: xr.Dataset) -> Figure:
    """Draw one panel each for decay, eigenvalue and margin, a row for each link (and constant).

    Grey is where a map is not stable; the margin is logarithmic, so that a map that reaches the boundary ends there.

    Args:
        raw: dataset of the measurement `maps`.
    """
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(9.6, 0.7 + 2.7 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    for row, axes_of_row in zip(rows, figure.subplots(len(rows), 3, squeeze=False, sharex=True), strict=True):
        data = row.data
        for axes, name in zip(axes_of_row, ("decay", "eigenvalue", "margin"), strict=True):
            for label, look in looks.items():
                curve = data[name].sel(parameterization=label)
                shown = curve.where(curve > 0) if name == "margin" else curve
                axes.plot(data["weight"], shown, label=style.text(label), **style.line(look))
            style.label_axes(axes, data["weight"], data[name])
            axes.tick_params(labelbottom=True)
            axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
        decay, eigenvalue, margin = axes_of_row
        title(decay, row.title)
        discrete = str(data["link"].values) != "continuous" if "link" in data.coords else False
        top = _seen(data["decay"], 0.0)[1]
        decay.set_ylim(-0.25 * top, top)
        decay.axhspan(-0.25 * top, 0, color="0.93", zorder=0)
        if discrete:
            eigenvalue.set_ylim(-1.3, 1.3)
            for low, high in ((-1.3, -1.0), (1.0, 1.3)):
                eigenvalue.axhspan(low, high, color="0.93", zorder=0)
        else:
            bottom = _seen(data["eigenvalue"], 0.0)[0]
            eigenvalue.set_ylim(bottom, -0.25 * bottom)
            eigenvalue.axhspan(0, -0.25 * bottom, color="0.93", zorder=0)
        margin.set_yscale("log")
        margin.set_ylim(max(_SMALLEST_MARGIN, 0.5 * _least(data["margin"])), 2 * _VIEW)
    legend(figure, *axes_of_row[0].get_legend_handles_labels())
    return figure


def _seen(values: xr.DataArray, also: float) -> tuple[float, float]:
    """Return the range of finite values within the view, `also` included."""
    finite = values.values[np.isfinite(values.values)]
    inside = np.append(finite, also)
    low, high = float(inside.min()), float(inside.max())
    return max(low, -_VIEW), min(high, _VIEW) if high > 0 else 1.0


def _least(values: xr.DataArray) -> float:
    positive = values.values[values.values > 0]
    return float(positive.min()) if positive.size else 1.0
