"""The maps with the eigenvalues of a model on them, before and after training."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("raw",)
NEEDS = (
    "parameterization",
    "seed",
    "step",
    "state",
    "weight",
    "margin",
    "recurrent_weight",
    "margin_of_weight",
    "final_loss",
    "horizon",
)
_ALONG = ("parameterization", "seed", "step", "state", "time", "lag", "weight")
_COLUMNS = 4
_BEFORE = {"linestyle": "none", "marker": "o", "markersize": 4.2, "markerfacecolor": "white", "color": "0.45"}
_INCHES_A_LETTER = 0.085  # of a heading
_LETTERS = 30


def draw(raw: xr.Dataset) -> Figure:
    """Draw each map as a curve, weight to distance to instability, with the states before and after training on it.

    The narrow panel beside it is the line on which the eigenvalues lie: each stroke is one of them, from before (left)
    to after training (right). Shown is the seed whose final loss is the median.

    Args:
        raw: dataset of the measurement `memory`.
    """
    kept = ["margin", "recurrent_weight", "margin_of_weight", "final_loss", "horizon"]
    blocks = panels(raw[kept], _ALONG)
    looks = style.looks(raw["parameterization"].values)
    columns = min(_COLUMNS, len(looks))
    rows = -(-len(looks) // columns)
    size = max(5.8, 0.6 + 2.6 * columns), 0.9 + (2.6 * rows + 0.3) * len(blocks)
    figure = Figure(figsize=size, layout="constrained")
    caption(figure, raw[kept], _ALONG)
    for part, block in zip(np.atleast_1d(figure.subfigures(len(blocks), 1)), blocks, strict=True):
        if block.title:
            words = textwrap.wrap(block.title, int(size[0] / _INCHES_A_LETTER))
            part.suptitle("\n".join(words), fontsize=10, x=0.01, ha="left")
        every = part.subplots(rows, 2 * columns, squeeze=False, sharey=True, width_ratios=[3.2, 1] * columns)
        pairs = every.reshape(-1, 2)
        for unused in pairs[len(looks) :].ravel():
            unused.remove()
        limits = _limits(block.data)
        for place, (pair, (label, look)) in enumerate(zip(pairs, looks.items(), strict=False)):
            one = block.data.sel(parameterization=label)
            order = np.argsort(one["final_loss"].values)
            _map(*pair, one.isel(seed=int(order[(len(order) - 1) // 2])), look, limits)
            pair[0].set_title("\n".join(textwrap.wrap(style.text(label), _LETTERS)))
            pair[0].set_xlabel(style.label(raw["recurrent_weight"]))
            if place % columns == 0:
                pair[0].set_ylabel(style.label(raw["margin"]))
    legend(figure, [
        Line2D([], [], color="0.25", linewidth=1.2, alpha=0.6, label="the map (its own colour)"),
        Line2D([], [], label="states before training", **_BEFORE),
        Line2D([], [], linestyle="none", marker="o", markersize=4.2, color="0.25", label="after training"),
        Line2D([], [], color="0.3", linewidth=0.8, linestyle=(0, (4, 2)), label="1 / horizon of training"),
    ])  # fmt: skip
    return figure


def _map(curve: Axes, line: Axes, data: xr.Dataset, look: dict, limits: tuple[float, float]) -> None:
    weights, margins = data["recurrent_weight"].values, data["margin"].values
    colour = look["color"]
    along = data["margin_of_weight"].values
    curve.plot(data["weight"], np.where(along > 0, along, np.nan), color=colour, alpha=0.5, linewidth=1.4)
    curve.plot(weights[0], _shown(margins[0]), **_BEFORE)
    curve.plot(weights[-1], _shown(margins[-1]), linestyle="none", marker="o", markersize=3.4, color=colour)
    line.plot([0, 1], [_shown(margins[0]), _shown(margins[-1])], color=colour, linewidth=0.7, alpha=0.8)
    line.set_xlim(-0.15, 1.15)
    line.set_xticks([0, 1], ["before", "after"], fontsize=7)
    line.tick_params(axis="y", left=False)
    line.grid(visible=False, axis="x")
    for axes in (curve, line):
        axes.set_yscale("log")
        axes.set_ylim(*limits)
        axes.minorticks_off()
        if int(data["horizon"]) > 0:
            axes.axhline(1 / int(data["horizon"]), color="0.3", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    finite = np.append(weights[np.isfinite(weights)], 0.0)
    middle, half = (finite.max() + finite.min()) / 2, max(0.6 * (finite.max() - finite.min()), 0.1)
    curve.set_xlim(middle - half, middle + half)
    curve.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    unstable = int((margins[-1] <= 0).sum())
    if unstable:
        curve.text(0.97, 0.03, f"{unstable} unstable after", transform=curve.transAxes, ha="right", fontsize=7.5)


def _shown(margins: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(margins) & (margins > 0), margins, np.nan)


def _limits(data: xr.Dataset) -> tuple[float, float]:
    """Return the range of the margins that are positive and finite, with room around it."""
    shown = _shown(data["margin"].values)
    if np.isnan(shown).all():
        return 1e-3, 1.0
    return max(0.5 * float(np.nanmin(shown)), 1e-8), min(2 * float(np.nanmax(shown)), 1e8)
