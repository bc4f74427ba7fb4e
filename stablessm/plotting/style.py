"""Colours, markers and labels. A map keeps its colour in every figure; every pair differs in grey or in its dashes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import xarray as xr
from matplotlib.axes import Axes

RC = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "stablessm",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}

_MAPS = {  # colours of Okabe and Ito
    "direct": ("#000000", "-", "o"),
    "exp": ("#D55E00", "--", "s"),
    "softplus": ("#56B4E9", "-.", "^"),
    "best": ("#009E73", "-", "D"),
    "tanh": ("#CC79A7", ":", "v"),
    "sigmoid": ("#E69F00", (0, (5, 1, 1, 1, 1, 1)), "P"),
    "square": ("#0072B2", (0, (3, 1)), "X"),
    "relu": ("#7F7F7F", (0, (1, 1)), "<"),
    "clip": ("#8C564B", (0, (6, 2)), ">"),
}
_OTHERS = ("#882255", "#44AA99", "#999933", "#332288", "#AA4499", "#DDCC77")

OUTCOME_COLOURS = {
    "converged": "#00664a",
    "step_limit": "#5fbf9f",
    "collapsed": "#f2e394",
    "diverged": "#e08214",
    "nonfinite": "#7f0000",
    "outside_domain": "#40004b",
}


def of_map(label: Hashable, position: int = 0) -> dict[str, Any]:
    """Return colour, linestyle and marker of a map; a user's map gets one by its position.

    Args:
        label: its value on the coordinate `parameterization`.
        position: its place on that coordinate.
    """
    name = str(label).split(" (")[0]
    colour, line, marker = _MAPS.get(name, (_OTHERS[position % len(_OTHERS)], (0, (4, 1, 1, 1)), "h"))
    if name != str(label):  # the same map with other constants
        line, marker = (0, (2, 1 + position % 3)), "d"
    return {"color": colour, "linestyle": line, "marker": marker}


def line_of_map(label: Hashable, position: int = 0) -> dict[str, Any]:
    """Return colour and linestyle of a map, for curves without markers."""
    return {key: value for key, value in of_map(label, position).items() if key != "marker"}


def text(label: Hashable) -> str:
    """Return a label with the characters that Matplotlib reads as mathematics escaped."""
    return str(label).replace("$", r"\$")


def label(variable: xr.DataArray) -> str:
    """Return long_name and units of a variable as an axis label."""
    name, units = variable.attrs.get("long_name", str(variable.name)), variable.attrs.get("units", "1")
    return text(name if units == "1" else f"{name} [{units}]")


def label_axes(axes: Axes, x: xr.DataArray, y: xr.DataArray) -> None:
    """Label both axes from two variables."""
    axes.set_xlabel(label(x))
    axes.set_ylabel(label(y))
