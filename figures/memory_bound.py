"""Memory functions of stacks against the bound of Theorem 3.1, by number of layers."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = (
    "seed",
    "activation",
    "layer",
    "time",
    "memory_function",
    "impulse_memory",
    "reversed_memory",
    "memory_bound",
    "memory_majorant",
)
_ALONG = ("activation", "layer", "time")
_BOUND = {"color": "0.25", "linewidth": 1.2, "linestyle": (0, (5, 2))}
_MODULI = {"color": "0.25", "linewidth": 1.2, "linestyle": (0, (1, 1.2))}
_DECADES = 6.5  # below the top of the bound
_QUERIES = {
    "memory_function": ("input that begins", {"linewidth": 1.6}),
    "impulse_memory": ("impulse", {"linewidth": 1.0, "linestyle": (0, (4, 1.5))}),
    "reversed_memory": ("input that ends", {"linewidth": 1.0, "linestyle": (0, (1, 1))}),
}
_SHOWN = [*_QUERIES, "memory_bound", "memory_majorant"]
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each number of layers, a row for each combination of what else was swept.

    Medians over the seeds. The bounds are those of the first activation; all with the same Lipschitz constant share
    them.

    Args:
        raw: dataset of the measurement `memory_bound`.
    """
    raw = raw[_SHOWN].median("seed", keep_attrs=True)
    rows = panels(raw, _ALONG)
    labels = raw["activation"].values
    colours = dict(zip(labels, _COLOURS * len(labels), strict=False))
    layers = raw["layer"].values
    figure = Figure(figsize=(max(5.4, 0.9 + 2.7 * len(layers)), 0.9 + 2.8 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    for row, every in zip(rows, figure.subplots(len(rows), len(layers), squeeze=False, sharex=True), strict=True):
        for place, (axes, layer) in enumerate(zip(every, layers, strict=True)):
            data = row.data.sel(layer=layer)
            time = data["time"]
            axes.plot(time, data["memory_bound"].isel(activation=0), **_BOUND)
            axes.plot(time, data["memory_majorant"].isel(activation=0), **_MODULI)
            for label, colour in colours.items():
                for name, (_, look) in _QUERIES.items():
                    seen = data[name].sel(activation=label)
                    axes.plot(time, seen.where(seen > 0), color=colour, **look)
            axes.set_yscale("log")
            axes.minorticks_off()
            top = float(np.nanmax(data["memory_bound"].values))
            if np.isfinite(top) and top > 0:
                axes.set_ylim(top * 10**-_DECADES, 2 * top)
            axes.set_xlabel(style.label(time))
            axes.tick_params(labelbottom=True)
            words = f"{layer} layer" if layer == 1 else f"{layer} layers"
            title(axes, f"{words}, {row.title}" if row.title and not place else words)
        every[0].set_ylabel(style.label(raw["memory_function"]))
    legend(figure, [
        *(Line2D([], [], label=f"measured, {style.text(label)}", color=colour) for label, colour in colours.items()),
        *(Line2D([], [], label=words, color="0.5", **look) for words, look in _QUERIES.values()),
        Line2D([], [], label="linear model of moduli", **_MODULI),
        Line2D([], [], label="bound of Theorem 3.1", **_BOUND),
    ])  # fmt: skip
    return figure
