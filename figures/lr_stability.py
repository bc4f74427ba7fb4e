"""Learning-rate stability: outcome of training by map and learning rate, one panel for each optimiser."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from stablessm.plotting import style

READS = ("stable_rates",)


def draw(rates: xr.Dataset) -> Figure:
    """Draw the most common outcome over seeds in each cell, and the share of stable seeds where they differ.

    A diamond on the right edge of a cell marks the median over seeds of the largest stable rate.

    Args:
        rates: what the analysis `stable_rates` returns.
    """
    along = ("parameterization", "learning_rate", "optimizer", "seed")
    data = rates.isel({name: 0 for name in rates.dims if name not in along})
    meanings = str(data["common_outcome"].attrs["flag_meanings"]).split()
    codes = dict(zip(np.atleast_1d(data["common_outcome"].attrs["flag_values"]).tolist(), meanings, strict=True))
    maps, rate = data["parameterization"].values, data["learning_rate"].values
    optimizers = data["optimizer"].values if "optimizer" in data.dims else [None]
    figure = Figure(figsize=(8.0, 0.9 + (0.55 + 0.36 * len(maps)) * len(optimizers)), layout="constrained")
    panels = figure.subplots(len(optimizers), 1, squeeze=False, sharex=True)[:, 0]
    step = np.diff(np.log10(rate)).mean() if len(rate) > 1 else 1.0
    seen: set[str] = set()
    for axes, optimizer in zip(panels, optimizers, strict=True):
        one = data if optimizer is None else data.sel(optimizer=optimizer)
        for row, label in enumerate(maps):
            cells = one.sel(parameterization=label)
            for place, value in enumerate(np.log10(rate)):
                name = codes[int(cells["common_outcome"][place])]
                seen.add(name)
                axes.barh(row, step, left=value - step / 2, height=0.86, color=style.OUTCOME_COLOURS[name],
                          edgecolor="white", linewidth=0.6)  # fmt: skip
                share = float(cells["stable_share"][place])
                if 0 < share < 1:
                    dark = name in ("nonfinite", "outside_domain", "converged")
                    axes.text(value, row, f"{share:.0%}", ha="center", va="center", fontsize=7,
                              color="white" if dark else "black")  # fmt: skip
            largest = float(cells["median_largest_rate"])
            if largest > 0:
                axes.plot(
                    np.log10(largest) + step / 2, row, marker="D", color="white", markeredgecolor="black", markersize=5
                )
        axes.set_yticks(range(len(maps)), [style.text(name) for name in maps])
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set_title(f"{optimizer}" if optimizer is not None else "", loc="left")
    ticks = np.arange(np.floor(np.log10(rate[0])), np.ceil(np.log10(rate[-1])) + 1)
    panels[-1].set_xticks(ticks, [f"$10^{{{int(tick)}}}$" for tick in ticks])
    panels[-1].set_xlim(np.log10(rate[0]) - step / 2, np.log10(rate[-1]) + step / 2)
    panels[-1].set_xlabel(style.label(data["learning_rate"]))
    handles = [
        Patch(color=style.OUTCOME_COLOURS[name], label=name.replace("_", " ")) for name in meanings if name in seen
    ]
    marker = panels[0].plot([], [], marker="D", color="white", markeredgecolor="black", linestyle="none",
                            label="largest stable rate, median over seeds")  # fmt: skip
    figure.legend(handles=[*handles, *marker], loc="outside lower center", ncols=len(handles) + 1)
    return figure
