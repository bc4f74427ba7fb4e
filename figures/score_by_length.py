"""Scores against the length of the series, by model."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("scores",)
NEEDS = ("length", "model", "steps")
_ALONG = ("model", "length")


def draw(scores: xr.Dataset) -> Figure:
    """Draw a line for each model, the range over seeds beside it, and the score of a simple answer.

    Args:
        scores: what the analysis `scores` returns.
    """
    found, looks = panels(scores, _ALONG), style.looks(scores["model"].values)
    columns = min(2, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(max(5.6, 4.2 * columns), 1.3 + 3.2 * rows), layout="constrained")
    caption(figure, scores, _ALONG)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for axes, panel in zip(every, found, strict=True):
        for label, look in looks.items():
            one = panel.data.sel(model=label)
            axes.plot(one["length"], one["score"], **look, markersize=4, label=_words(label, one))
            axes.vlines(one["length"], one["smallest_score"], one["largest_score"], color=look["color"], linewidth=2)
        simple = panel.data["trivial_score"].isel(model=0)
        if np.isfinite(simple).any():
            axes.plot(simple["length"], simple, color="0.4", linewidth=1.0, linestyle=":", label="simple answer")
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=max(-0.25, axes.get_ylim()[0]))
        axes.set_xlabel(style.label(scores["length"]))
        axes.set_ylabel(style.label(scores["score"]))
        axes.tick_params(labelbottom=True)
        title(axes, panel.title)
    legend(figure, *every[0].get_legend_handles_labels())
    return figure


def _words(label: object, one: xr.Dataset) -> str:
    parameters = one["parameters"].values
    least, most = int(parameters.min()), int(parameters.max())
    count = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return style.text(f"{str(label).replace('_', ' ')} ({count} parameters)")
