"""The largest stable learning rate of each map by bisection: every seed, and the median."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style

READS = ("raw",)


def draw(raw: xr.Dataset) -> Figure:
    """Draw one column for each optimiser and, in it, one for each map.

    Args:
        raw: dataset of the measurement `largest_rate`.
    """
    name = "largest_stable_learning_rate"
    along = ("parameterization", "optimizer", "seed")
    data = raw[name].isel({one: 0 for one in raw[name].dims if one not in along})
    optimizers, maps = data["optimizer"].values, data["parameterization"].values
    figure = Figure(figsize=(1.6 + 2.0 * len(optimizers), 3.4), layout="constrained")
    axes = figure.subplots()
    for column, optimizer in enumerate(optimizers):
        for position, label in enumerate(maps):
            values = np.asarray(data.sel(optimizer=optimizer, parameterization=label))
            values = values[values > 0]
            look = style.of_map(label, position)
            x = column + (position - (len(maps) - 1) / 2) * 0.8 / len(maps)
            axes.plot(np.full(len(values), x), values, look["marker"], color=look["color"], alpha=0.35, markersize=4)
            if len(values):
                axes.plot(x, np.median(values), look["marker"], color=look["color"], markersize=7, linestyle="none",
                          label=style.text(label) if column == 0 else None)  # fmt: skip
    axes.set_yscale("log")
    axes.set_xticks(range(len(optimizers)), [str(one).replace("_", " ") for one in optimizers])
    axes.set_ylabel("largest stable learning rate")
    figure.legend(loc="outside lower center", ncols=len(maps))
    return figure
