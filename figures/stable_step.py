"""The largest stable gradient-descent step of each map against memory length."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import curves_by_map

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
    return curves_by_map(raw[["stable_step", "verdict"]], _ALONG, _curves)


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
