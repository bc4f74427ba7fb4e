"""The largest stable gradient-descent step of each map against memory length."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = ("parameterization", "memory_length", "stable_step", "verdict")
_ALONG = ("parameterization", "memory_length", "statement")
_VIEW = (1e-6, 1e3)


def draw(raw: xr.Dataset) -> Figure:
    """Draw the step below which one mode at its optimum is stable, a panel for each link.

    A curve ends where the map does not reach. The maps for which one step is proved to serve all memory lengths are
    named.

    Args:
        raw: dataset of the measurement `certificates`.
    """
    data = raw[["stable_step", "verdict"]]
    found = panels(data, _ALONG)
    looks = style.looks(data["parameterization"].values)
    columns = min(2, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(max(5.2, 4.4 * columns), 1.0 + 3.4 * rows), layout="constrained")
    caption(figure, data, _ALONG)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for axes, panel in zip(every, found, strict=True):
        _curves(axes, panel.data, looks)
        title(axes, panel.title)
        axes.tick_params(labelbottom=True)
    legend(figure, *every[0].get_legend_handles_labels())
    return figure


def _curves(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    proved = str(data["verdict"].attrs["flag_meanings"]).split().index("proved")
    verdicts = data["verdict"].sel(statement="curvature")
    for label, look in looks.items():
        curve = data["stable_step"].sel(parameterization=label)
        axes.plot(data["memory_length"], curve.where(np.isfinite(curve)), label=style.text(label), **style.line(look))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(float(data["memory_length"][0]), float(data["memory_length"][-1]))
    axes.set_ylim(*_VIEW)
    named = [style.text(label) for label in looks if int(verdicts.sel(parameterization=label)) == proved]
    words = f"one step for all memories, proved:\n{', '.join(named) or 'none'}"
    axes.text(0.97, 0.97, words, transform=axes.transAxes, ha="right", va="top", fontsize=8.0, color="0.35", wrap=True)
    style.label_axes(axes, data["memory_length"], data["stable_step"])
