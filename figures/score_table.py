"""Scores of every task by every model, as a table in grey."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("scores",)
NEEDS = ("task", "model", "trivial_score")
_ALONG = ("task", "model")
_SIMPLE = "simple answer"
_MARGIN = 0.05


def draw(scores: xr.Dataset) -> Figure:
    """Draw a table for each combination of what else was swept: tasks below one another, models side by side.

    The last column is the score of a simple answer that learns nothing. A cell tells the mean over seeds and, small,
    half of their range; it is the darker the better, and white where it does not pass the simple answer by 0.05.

    Args:
        scores: what the analysis `scores` returns.
    """
    found = panels(scores, _ALONG)
    columns, rows = scores.sizes["model"] + 1, scores.sizes["task"]
    high = 1.3 + 0.34 * rows
    figure = Figure(figsize=(2.0 + 0.72 * columns, 0.8 + high * len(found)), layout="constrained")
    caption(figure, scores, _ALONG)
    for axes, panel in zip(figure.subplots(len(found), 1, squeeze=False)[:, 0], found, strict=True):
        _table(axes, panel.data)
        title(axes, panel.title)
    legend(figure, [
        Patch(facecolor="0.45", label=style.label(scores["score"]) + ", mean over seeds, and half of their range"),
        Patch(facecolor="white", edgecolor="0.6", label=f"not above the simple answer by {_MARGIN}"),
    ])  # fmt: skip
    return figure


def _table(axes: Axes, data: xr.Dataset) -> None:
    names = [str(one).replace("_", " ") for one in data["model"].values]
    values = data["score"].transpose(*_ALONG).values
    half = (data["largest_score"] - data["smallest_score"]).transpose(*_ALONG).values / 2
    simple = data["trivial_score"].transpose(*_ALONG).isel(model=0).values
    shade = np.where(values > np.nan_to_num(simple)[:, None] + _MARGIN, np.clip(values, 0, 1), 0)
    axes.imshow(np.column_stack([shade, np.zeros(len(simple))]), cmap="Greys", vmin=0, vmax=1.5, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if shade[row, column] > 0.9 else "black"
        if np.isfinite(value):
            axes.text(column, row - 0.12, f"{value:.3f}", ha="center", va="center", fontsize=7.5, color=colour)
            axes.text(column, row + 0.25, f"±{half[row, column]:.3f}", ha="center", va="center", fontsize=5.5,
                      color=colour)  # fmt: skip
    for row, value in enumerate(simple):
        axes.text(len(names), row, f"{value:.3f}", ha="center", va="center", fontsize=7.5, color="0.4")
    axes.set_xticks(range(len(names) + 1), [*names, _SIMPLE], rotation=30, ha="right", fontsize=7.5)
    steps = data["steps"].transpose(*_ALONG).isel(model=0).values
    tasks = [
        f"{str(one).replace('_', ' ')}, {count} steps" for one, count in zip(data["task"].values, steps, strict=True)
    ]
    axes.set_yticks(range(len(tasks)), [style.text(one) for one in tasks], fontsize=7.5)
    axes.grid(False)
    axes.tick_params(length=0)
