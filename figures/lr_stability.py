"""Learning-rate stability: outcome of training by map and learning rate, one panel for each optimiser."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("stable_rates",)
NEEDS = ("parameterization", "learning_rate", "seed")
_ALONG = ("parameterization", "learning_rate", "seed")
_HEIGHT = 0.86


def draw(rates: xr.Dataset) -> Figure:
    """Draw the most common outcome over seeds in each cell and, where the seeds differ, how many of them are stable.

    A diamond on the right edge of a cell marks the median over seeds of the largest stable rate, the line through it
    the range; at the left end of the panel it says that no rate is stable.

    Args:
        rates: what the analysis `stable_rates` returns.
    """
    found = panels(rates, _ALONG)
    maps = rates["parameterization"].values
    columns = 1 if len(found) <= 4 else 2
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(7.6 * (1 if columns == 1 else 1.7), 0.9 + (0.5 + 0.31 * len(maps)) * rows),
                    layout="constrained")  # fmt: skip
    caption(figure, rates, _ALONG)
    outcomes = _meanings(rates["common_outcome"])
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    edges = _edges(rates["learning_rate"].values)
    for place, (axes, panel) in enumerate(zip(every, found, strict=True)):
        _cells(axes, panel.data, outcomes, edges)
        _marks(axes, panel.data, edges)
        title(axes, panel.title)
        axes.set_yticks(range(len(maps)), [style.text(name) for name in maps])
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", which="minor", length=0)
        axes.grid(visible=False)
        if place >= len(found) - columns:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(style.label(rates["learning_rate"]))
    every[0].set_xscale("log")
    every[0].set_xlim(edges[0], edges[-1])
    every[0].set_ylim(len(maps) - 0.5, -0.5)
    seen = set(np.unique(rates["common_outcome"]).tolist())
    handles = [Patch(label=name.replace("_", " "), **_fill(name)) for code, name in outcomes.items() if code in seen]
    handles.append(Line2D([], [], linestyle="none", label="largest stable rate, median over seeds", **_DIAMOND))
    share = {"marker": r"$\mathrm{n/n}$", "markersize": 14, "markeredgewidth": 0, "color": "black"}
    if ((rates["stable_share"] > 0) & (rates["stable_share"] < 1)).any():
        handles.append(Line2D([], [], linestyle="none", label="stable seeds, where they differ", **share))
    legend(figure, handles)
    return figure


_DIAMOND = {"marker": "D", "markersize": 5, "markerfacecolor": "white", "markeredgecolor": "black"}


def _meanings(codes: xr.DataArray) -> dict[int, str]:
    values = np.atleast_1d(codes.attrs["flag_values"]).tolist()
    return dict(zip(values, str(codes.attrs["flag_meanings"]).split(), strict=True))


def _edges(rates: np.ndarray) -> np.ndarray:
    """Return the edges of the cells: geometric means of neighbouring rates, the outermost mirrored."""
    if len(rates) == 1:
        return rates[0] * np.array([10**-0.5, 10**0.5])
    logs = np.log10(rates)
    inner = (logs[1:] + logs[:-1]) / 2
    return 10 ** np.concatenate([[2 * logs[0] - inner[0]], inner, [2 * logs[-1] - inner[-1]]])


def _fill(outcome: str) -> dict[str, object]:
    hatch = {"hatch": "/////"} if outcome == "not_computed" else {}
    edge = "0.6" if outcome in ("not_computed", "converged") else "white"
    return {"facecolor": style.OUTCOME_COLOURS.get(outcome, "#bbbbbb"), "edgecolor": edge, "linewidth": 0.6, **hatch}


def _cells(axes: Axes, data: xr.Dataset, outcomes: dict[int, str], edges: np.ndarray) -> None:
    for row, label in enumerate(data["parameterization"].values):
        cells = data.sel(parameterization=label)
        for place, (low, high) in enumerate(pairwise(edges)):
            cell = cells.isel(learning_rate=place)
            name, seeds = outcomes[int(cell["common_outcome"])], int(cell["seeds"])
            axes.add_patch(Rectangle((low, row - _HEIGHT / 2), high - low, _HEIGHT, **_fill(name)))
            stable = round(float(cell["stable_share"].fillna(0)) * seeds)
            if 0 < stable < seeds:
                colour = "white" if name in style.DARK_OUTCOMES else "black"
                axes.text((low * high) ** 0.5, row, f"{stable}/{seeds}", color=colour, fontsize=7, ha="center",
                          va="center")  # fmt: skip


def _marks(axes: Axes, data: xr.Dataset, edges: np.ndarray) -> None:
    rates = data["learning_rate"].values

    def edge(rate: float) -> float:
        return float(edges[np.searchsorted(rates, rate * (1 - 1e-9)) + 1]) if rate > 0 else float(edges[0])

    for row, label in enumerate(data["parameterization"].values):
        one = data.sel(parameterization=label)
        low, middle, high = (float(one[f"{name}_largest_rate"]) for name in ("smallest", "median", "greatest"))
        if np.isnan(middle):
            continue
        for colour, width in (("white", 3.0), ("black", 1.2)):
            axes.plot([edge(low), edge(high)], [row + 0.3, row + 0.3], color=colour, linewidth=width, clip_on=False)
        axes.plot(_above(edge, rates, middle), row + 0.3, clip_on=False, zorder=3, **_DIAMOND)


def _above(edge: object, rates: np.ndarray, middle: float) -> float:
    """Return where a median goes: the edge above its rate, or between two edges for the mean of two rates."""
    if middle == 0 or np.isclose(rates, middle, rtol=1e-9).any():
        return edge(middle)
    return middle
