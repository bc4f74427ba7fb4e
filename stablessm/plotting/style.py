"""Colours, markers and labels. A map keeps its colour in every figure; every pair differs in grey or in its dashes."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable
from itertools import product
from typing import Any

import xarray as xr
from matplotlib.axes import Axes

RC = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "hatch.linewidth": 0.6,
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
_OTHERS = ("#882255", "#44AA99", "#332288", "#999933", "#AA4499", "#661100")
_DASHES = ((0, (4, 1, 1, 1)), (0, (7, 1.5)), (0, (2, 1.5)), (0, (1, 2)))
_MARKERS = ("h", "p", "d", "*")
_LONGEST_LABEL = 40

# From light to dark as the outcome gets worse: every pair is apart in grey, and so to the colour-blind.
OUTCOME_COLOURS = {
    "converged": "#e3f4ec",
    "step_limit": "#a3d9c3",
    "collapsed": "#cfa53a",
    "diverged": "#c85f2a",
    "nonfinite": "#7a1230",
    "outside_domain": "#17172b",
    "not_computed": "#ffffff",
}
DARK_OUTCOMES = ("diverged", "nonfinite", "outside_domain")


def looks(labels: Iterable[Hashable]) -> dict[Hashable, dict[str, Any]]:
    """Return colour, linestyle and marker of each map of a figure, no two of them equal.

    A built-in map has its own; the same map with other constants keeps the colour, and a map of the user's gets a
    colour from its name, so that both look alike in every figure that shows the same maps.

    Args:
        labels: values of the coordinate `parameterization`.
    """
    chosen: dict[Hashable, dict[str, Any]] = {}
    for label in labels:
        name = str(label)
        base = name.split(" (")[0]
        if name in _MAPS:
            candidates = [_MAPS[name]]
        else:
            colours = (_MAPS[base][0],) if base in _MAPS else _OTHERS
            candidates = [(c, d, m) for (d, m), c in product(zip(_DASHES, _MARKERS, strict=True), colours)]
            start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % len(candidates)
            candidates = candidates[start:] + candidates[:start]
        taken = [tuple(look.values()) for look in chosen.values()]
        look = next((one for one in candidates if one not in taken), candidates[0])
        chosen[label] = dict(zip(("color", "linestyle", "marker"), look, strict=True))
    return chosen


def line(look: dict[str, Any]) -> dict[str, Any]:
    """Return a look without its marker, for dense curves."""
    return {key: value for key, value in look.items() if key != "marker"}


def text(label: Hashable) -> str:
    """Return a label as it is drawn: nothing in it is read as mathematics, and a very long one is cut."""
    words = str(label)
    if len(words) > _LONGEST_LABEL:
        words = words[: _LONGEST_LABEL - 1] + "…"
    return words.replace("$", r"\$")


def label(variable: xr.DataArray) -> str:
    """Return long_name and units of a variable as an axis label; what follows a comma in the name is left out."""
    name, units = str(variable.attrs.get("long_name", variable.name)), variable.attrs.get("units", "1")
    name = name.split(",")[0]
    return text(name if units == "1" else f"{name} [{units}]")


def label_axes(axes: Axes, x: xr.DataArray, y: xr.DataArray) -> None:
    """Label both axes from two variables."""
    axes.set_xlabel(label(x))
    axes.set_ylabel(label(y))
