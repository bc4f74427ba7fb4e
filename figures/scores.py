"""Scores of trainings side by side: measured, reported, and of a simple answer."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("scores",)
NEEDS = ("steps",)
_ALONG = ("task", "model")
_LOWEST = -0.25


def draw(scores: xr.Dataset) -> Figure:
    """Draw a row for each task and model: the mean over seeds with its range, what is reported, what is trivial.

    What lies below -0.25 stands at the edge with an arrow.

    Args:
        scores: what the analysis `scores` returns.
    """
    found = panels(scores, _ALONG)
    axes_of = [name for name in _ALONG if name in scores.dims]
    rows = int(np.prod([scores.sizes[name] for name in axes_of])) or 1
    figure = Figure(figsize=(7.2, 1.2 + (0.5 + 0.24 * rows) * len(found)), layout="constrained")
    caption(figure, scores, _ALONG)
    every = figure.subplots(len(found), 1, squeeze=False)[:, 0]
    for axes, panel in zip(every, found, strict=True):
        _rows(axes, panel.data, axes_of)
        axes.set_xlabel(style.label(scores["score"]))
        title(axes, panel.title)
    legend(figure, [
        Line2D([], [], color="#0072B2", marker="o", label="measured, mean and range of seeds"),
        Line2D([], [], color="#D55E00", marker="x", linestyle="", label="reported"),
        Line2D([], [], color="0.4", marker="|", markersize=11, linestyle="", label="simple answer"),
    ])  # fmt: skip
    return figure


def _rows(axes: Axes, data: xr.Dataset, names: list[str]) -> None:
    flat = data.stack(row=names).reset_index("row") if names else data.expand_dims("row")
    labels = []
    for place in range(flat.sizes["row"]):
        one = flat.isel(row=place)
        words = [str(one[name].item()).replace("_", " ") for name in names if data.sizes[name] > 1 or len(names) == 1]
        labels.append(style.text(", ".join([*words, f"{int(one['steps'])} steps"])))
        low, middle, high = (float(one[name]) for name in ("smallest_score", "score", "largest_score"))
        if np.isfinite(middle):
            shown = np.maximum([low, middle, high], _LOWEST)
            axes.plot(shown[[0, 2]], [place, place], color="#0072B2", linewidth=2.5)
            axes.plot(shown[1], place, color="#0072B2", marker="<" if middle < _LOWEST else "o", markersize=5)
        axes.plot(float(one["reported_score"]), place, color="#D55E00", marker="x", markersize=6)
        axes.plot(float(one["trivial_score"]), place, color="0.4", marker="|", markersize=11)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
