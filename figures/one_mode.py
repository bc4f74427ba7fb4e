"""One decay learned: what training does by learning rate and memory length, and the line the curvature draws."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("raw",)
NEEDS = ("parameterization", "learning_rate", "memory_length", "start_ratio", "behaviour", "largest_stable_step")
_ALONG = ("parameterization", "learning_rate", "memory_length")
_LETTERS = 26  # of a title, over a column of 2.05 inches
_OUTCOME = {  # each behaviour in the colour of the outcome it is most like
    "settles": "converged",
    "approaches": "step_limit",
    "cycles": "collapsed",
    "forgets": "diverged",
    "unstable": "nonfinite",
    "outside_image": "not_computed",
}


def draw(raw: xr.Dataset) -> Figure:
    """Draw one column for each map and one row for each combination of what else was swept.

    Args:
        raw: dataset of the measurement `one_mode`.
    """
    data = raw[["behaviour", "largest_stable_step"]]
    words = str(data["behaviour"].attrs["flag_meanings"]).split()
    rows, maps = panels(data, _ALONG), data["parameterization"].values
    figure = Figure(figsize=(max(3.6, 0.9 + 2.05 * len(maps)), 0.9 + 2.25 * len(rows)), layout="constrained")
    caption(figure, data, _ALONG)
    for place, (panel, part) in enumerate(zip(rows, np.ravel(figure.subfigures(len(rows), 1)), strict=True)):
        part.suptitle(panel.title, x=0.01, ha="left", fontsize=8.5)
        for label, axes in zip(maps, part.subplots(1, len(maps), squeeze=False, sharey=True)[0], strict=True):
            _panel(axes, panel.data.sel(parameterization=label), words)
            axes.set_title(textwrap.fill(style.text(label), _LETTERS))
            if label == maps[0]:
                axes.set_ylabel(style.label(data["learning_rate"]))
            if place == len(rows) - 1:
                axes.set_xlabel("memory length")
    seen = set(np.unique(data["behaviour"]).tolist())
    handles = [Patch(facecolor=_colour(word), edgecolor="0.5", linewidth=0.5, label=word.replace("_", " "))
               for code, word in enumerate(words) if code in seen and word in _OUTCOME]  # fmt: skip
    if data["largest_stable_step"].notnull().any():
        handles.append(Line2D([], [], color="black", linewidth=1.6, label="allowed by the curvature at the optimum"))
    legend(figure, handles)
    return figure


def _colour(word: str) -> str:
    return style.OUTCOME_COLOURS[_OUTCOME.get(word, "not_computed")]


def _panel(axes: Axes, data: xr.Dataset, words: list[str]) -> None:
    rate, length = data["learning_rate"].values, data["memory_length"].values
    codes = data["behaviour"].transpose("learning_rate", "memory_length").values
    codes = np.where((codes < 0) | (codes >= len(words)), len(words), codes)
    colours = ListedColormap([*map(_colour, words), "white"])
    axes.pcolormesh(length, rate, codes, cmap=colours, vmin=-0.5, vmax=len(words) + 0.5, shading="nearest",
                    rasterized=True)  # fmt: skip
    line = data["largest_stable_step"].max("learning_rate").values  # the same at every rate
    for colour, width in (("white", 3.2), ("black", 1.6)):
        axes.plot(length, line, color=colour, linewidth=width)
    axes.set_xscale("log")
    axes.set_yscale("log")
    alone = 3.0 if rate.min() == rate.max() else 1.0  # an axis needs two ends
    axes.set_ylim(rate.min() / alone, rate.max() * alone)
    axes.grid(visible=False)
