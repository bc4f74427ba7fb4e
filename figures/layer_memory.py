"""What layers of every kind remember as they start, relative to the most they feel of an input."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "kind", "time", "seed", "memory_function")
_ALONG = ("parameterization", "kind", "time", "seed")
_COLUMNS = 4
_DECADES = 6


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each kind of layer, a block for what was swept beside the maps; every seed is a line.

    A line begins with a dot, and is over its largest value. A layer without a state has the dot alone; so has
    attention, which makes the same of one value and of many.

    Args:
        raw: dataset of the measurement `layer_memory`.
    """
    data = raw[["memory_function"]]
    found, kinds = panels(data, _ALONG), [str(one) for one in data["kind"].values]
    looks = style.looks(data["parameterization"].values)
    rows = -(-len(kinds) // _COLUMNS) * len(found)
    figure = Figure(figsize=(0.6 + 2.3 * min(_COLUMNS, len(kinds)), 1.0 + 1.7 * rows), layout="constrained")
    caption(figure, data, _ALONG)
    every = grid(figure, len(kinds) * len(found), columns=_COLUMNS, sharex=True, sharey=True)
    for place, axes in enumerate(every):
        panel, kind = found[place // len(kinds)], kinds[place % len(kinds)]
        for label, look in looks.items():
            one = panel.data["memory_function"].isel(kind=place % len(kinds)).sel(parameterization=label)
            for seed, values in enumerate(one.transpose("seed", "time").values):
                top = np.nanmax(np.where(np.isfinite(values), values, 0)) or 1.0
                shown = np.where(np.isfinite(values) & (values > 0), values / top, np.nan)
                axes.plot(1 + data["time"], shown, color=look["color"], linewidth=0.8, alpha=0.8, marker=".",
                          markevery=[0], label=style.text(label) if seed == 0 else None)  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(10.0**-_DECADES, 3)
        axes.minorticks_off()
        axes.tick_params(labelbottom=True)
        title(axes, f"{kind}, {panel.title}" if panel.title else kind)
    for axes in every[-_COLUMNS:]:
        axes.set_xlabel(f"1 + {style.label(data['time'])}")
    for axes in every[::_COLUMNS]:
        axes.set_ylabel(style.label(data["memory_function"]))
    legend(figure, *every[0].get_legend_handles_labels())
    return figure
