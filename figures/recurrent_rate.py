"""Loss by learning rate where the recurrent weights learn as fast as the others, or slower: one column for each map."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("recurrent_rate",)
NEEDS = ("parameterization", "recurrent_rate", "learning_rate")
_ALONG = ("parameterization", "recurrent_rate", "learning_rate")
_LETTERS = 28  # of a title, over a column of 2.15 inches
_MOST = 1e5  # a loss that many times above the least leaves the panel
_DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1)))


def draw(losses: xr.Dataset) -> Figure:
    """Draw medians over seeds; a curve ends where most seeds meet a step that is not finite.

    Args:
        losses: what the analysis `recurrent_rate` returns.
    """
    rows, looks = panels(losses, _ALONG), style.looks(losses["parameterization"].values)
    ratios = losses["recurrent_rate"].values[::-1]
    figure = Figure(figsize=(max(3.6, 0.9 + 2.15 * len(looks)), 1.0 + 2.5 * len(rows)), layout="constrained")
    caption(figure, losses, _ALONG)
    for row, part in zip(rows, np.ravel(figure.subfigures(len(rows), 1)), strict=True):
        part.suptitle(row.title, x=0.01, ha="left", fontsize=8.5)
        every = part.subplots(1, len(looks), squeeze=False, sharey=True, sharex=True)[0]
        for axes, (label, look) in zip(every, looks.items(), strict=True):
            _panel(axes, row.data.sel(parameterization=label), ratios, look)
            axes.set_title(textwrap.fill(style.text(label), _LETTERS))
            axes.set_xlabel(style.label(losses["learning_rate"]))
        every[0].set_ylabel("loss at the end")
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(ratios))]
    legend(figure, [
        Line2D([], [], color="0.25", linestyle=dash, label=f"recurrent rate {ratio:g} of it")
        for dash, ratio in zip(dashes, ratios, strict=True)
    ])  # fmt: skip
    return figure


def _panel(axes: Axes, data: xr.Dataset, ratios: np.ndarray, look: dict) -> None:
    for place, ratio in enumerate(ratios):
        loss = data["median_loss"].sel(recurrent_rate=ratio)
        drawn = loss.where(np.isfinite(loss) & (loss > 0))
        dash = _DASHES[place % len(_DASHES)]
        axes.plot(data["learning_rate"], drawn, color=look["color"], linestyle=dash, marker="o", markersize=2.5)
    axes.set_xscale("log")
    seen = data["median_loss"].values[np.isfinite(data["median_loss"].values) & (data["median_loss"].values > 0)]
    if len(seen):
        axes.set_yscale("log")
        axes.set_ylim(top=min(2 * seen.max(), _MOST * seen.min()))
