"""What the block around a recurrence does to the map in it: each quantity by the part that is left out."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("ablation",)
NEEDS = ("parameterization", "ablation", "layer")
_ALONG = ("parameterization", "ablation", "layer")


def draw(reduced: xr.Dataset) -> Figure:
    """Draw fitted C and the largest gradient over weight of each layer, the largest stable rate and the accuracy.

    Args:
        reduced: what the analysis `ablation` returns.
    """
    rows, layers = panels(reduced, _ALONG), reduced["layer"].values
    columns = len(layers) + 1
    figure = Figure(figsize=(max(5.0, 3.1 * columns), 0.9 + 4.6 * len(rows)), layout="constrained")
    caption(figure, reduced, _ALONG)
    for row, part in zip(rows, np.ravel(figure.subfigures(len(rows), 1)), strict=True):
        part.suptitle(row.title, x=0.01, ha="left", fontsize=8.5)
        upper, lower = part.subplots(2, columns, squeeze=False)
        for place, layer in enumerate(layers):
            one = row.data.isel(layer=place)
            _marks(upper[place], one["largest_constant"], logarithmic=True)
            _marks(lower[place], one["largest_ratio"], one["smallest_largest_ratio"], one["greatest_largest_ratio"],
                   logarithmic=True)  # fmt: skip
            upper[place].set_title(f"layer {layer}")
        data = row.data
        _marks(upper[-1], data["median_largest_rate"], data["smallest_largest_rate"], data["greatest_largest_rate"],
               logarithmic=True)  # fmt: skip
        mean, error = data["mean_accuracy"], data["accuracy_error"].fillna(0.0)
        _marks(lower[-1], mean, mean - error, mean + error)
        upper[-1].set_title("the network")
    legend(figure, *upper[-1].get_legend_handles_labels())
    return figure


def _marks(
    axes: Axes,
    middle: xr.DataArray,
    low: xr.DataArray | None = None,
    high: xr.DataArray | None = None,
    *,
    logarithmic: bool = False,
) -> None:
    """One mark for each map and part, side by side, with a bar from low to high."""
    looks, parts = style.looks(middle["parameterization"].values), middle["ablation"].values
    for place, (label, look) in enumerate(looks.items()):
        x = np.arange(len(parts)) + 0.6 * ((place + 0.5) / len(looks) - 0.5)
        y = _shown(middle.sel(parameterization=label), logarithmic)
        axes.plot(x, y, label=style.text(label), color=look["color"], marker=look["marker"], linestyle="none",
                  markersize=4.5)  # fmt: skip
        if low is not None:
            ends = (_shown(one.sel(parameterization=label), logarithmic) for one in (low, high))
            axes.vlines(x, *ends, color=look["color"], linewidth=1.0)
    axes.set_xticks(range(len(parts)), ["whole block" if one == "none" else f"no {one}" for one in parts], rotation=25)
    axes.set_ylabel(style.label(middle))
    if logarithmic and np.isfinite(_shown(middle, logarithmic)).any():
        axes.set_yscale("log")
        axes.minorticks_off()  # most of the time of drawing
    axes.set_xlim(-0.5, len(parts) - 0.5)


def _shown(values: xr.DataArray, logarithmic: bool) -> np.ndarray:
    return values.where(np.isfinite(values) & ((values > 0) | (not logarithmic))).values
