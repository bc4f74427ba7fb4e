"""Scores against the length of the series, by model."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import curves_by_map

READS = ("scores",)
NEEDS = ("length", "model", "steps")
_ALONG = ("model", "length")


def draw(scores: xr.Dataset) -> Figure:
    """Draw a line for each model, the range over seeds beside it, and the score of a simple answer.

    Args:
        scores: what the analysis `scores` returns.
    """
    return curves_by_map(scores, _ALONG, _curves, by="model")


def _curves(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    for label, look in looks.items():
        one = data.sel(model=label)
        axes.plot(one["length"], one["score"], **look, markersize=4, label=_words(label, one))
        axes.vlines(one["length"], one["smallest_score"], one["largest_score"], color=look["color"], linewidth=2)
    simple = data["trivial_score"].isel(model=0)
    if np.isfinite(simple).any():
        axes.plot(simple["length"], simple, color="0.4", linewidth=1.0, linestyle=":", label="simple answer")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=max(-0.25, axes.get_ylim()[0]))
    style.label_axes(axes, data["length"], data["score"])


def _words(label: object, one: xr.Dataset) -> str:
    parameters = one["parameters"].values
    least, most = int(parameters.min()), int(parameters.max())
    count = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return style.text(f"{str(label).replace('_', ' ')} ({count} parameters)")
