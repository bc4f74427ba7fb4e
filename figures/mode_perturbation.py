"""What moving the weights of a mode costs, by its decay, and the condition of Theorem 3.3."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = (
    "parameterization",
    "decay",
    "power",
    "width",
    "recurrent_distance",
    "recurrent_distance_summed",
    "free_phase_distance",
    "free_phase_distance_summed",
    "scaled_phase_distance",
    "scaled_phase_distance_summed",
    "readout_cost",
    "readout_cost_summed",
    "absolute_mass",
    "absolute_mass_limit",
)
_ALONG = ("parameterization", "decay", "power", "width")
_OTHERS = {
    "free_phase_distance": ("free phase", {"color": "#8C564B", "linestyle": "-", "linewidth": 1.6}),
    "scaled_phase_distance": ("phase scaled with the decay", {"color": "#8C564B", "linestyle": "--", "linewidth": 1.6}),
    "readout_cost": ("readout weight, not normalised", {"color": "#7F7F7F", "linestyle": "-.", "linewidth": 1.6}),
}
_LIMIT = {"color": "0.3", "linestyle": ":", "linewidth": 0.9}
_VIEW = (3e-3, 30.0)


def draw(raw: xr.Dataset) -> Figure:
    """Draw three panels for each combination of what else was swept.

    Left the normalised distance of a mode whose recurrent weight moves, by map; a curve that leaves the panel is
    infinite behind. Middle what the other weights of a mode cost: crosses are sums over samples, lines closed forms.
    Right the sum of |c U|/|lambda| over m modes of (1 + t)^-p, which Theorem 3.3 needs bounded.

    Args:
        raw: dataset of the measurement `mode_perturbation`.
    """
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(10.2, 1.1 + 2.9 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    for row, (recurrent, others, mass) in zip(rows, figure.subplots(len(rows), 3, squeeze=False), strict=True):
        for label, look in looks.items():
            one = row.data.sel(parameterization=label)
            _curve(recurrent, one, "recurrent_distance", style.line(look), look["color"])
        shared = row.data.isel(parameterization=0)
        for name, (_, look) in _OTHERS.items():
            _curve(others, shared, name, look, look["color"])
        others.axhline(4 / np.pi, **_LIMIT)
        others.annotate("4/π", (0.02, 4 / np.pi), (0, 2), xycoords=("axes fraction", "data"),
                        textcoords="offset points", fontsize=8, color="0.3")  # fmt: skip
        for axes in (recurrent, others):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_ylim(*_VIEW)
            axes.minorticks_off()
            axes.set_xlabel(style.label(raw["decay"]))
        recurrent.set_ylabel("normalised distance")
        others.set_ylabel("distance")
        _mass(mass, shared)
        title(recurrent, f"recurrent weight moved, {row.title}" if row.title else "recurrent weight moved")
        title(others, "phase or readout moved")
        title(mass, "m modes of (1 + t)^-p")
    legend(figure, [
        *(Line2D([], [], label=style.text(label), **style.line(look)) for label, look in looks.items()),
        *(Line2D([], [], label=words, **look) for words, look in _OTHERS.values()),
        Line2D([], [], linestyle="none", marker="x", markersize=4, color="0.35", label="summed up from samples"),
    ])  # fmt: skip
    return figure


def _curve(axes: Axes, data: xr.Dataset, name: str, look: dict, colour: str) -> None:
    curve, summed = (data[one].where(np.isfinite(data[one])) for one in (name, f"{name}_summed"))
    axes.plot(data["decay"], curve, **look)
    axes.plot(data["decay"][::6], summed[::6], linestyle="none", marker="x", markersize=4, color=colour)


def _mass(axes: Axes, data: xr.Dataset) -> None:
    shades = np.linspace(0.0, 0.65, data.sizes["power"])
    for power, shade in zip(data["power"].values, shades, strict=True):
        one = data.sel(power=power)
        axes.plot(one["width"], one["absolute_mass"], color=str(shade), marker="o", markersize=3.5, linewidth=1.3)
        limit = float(one["absolute_mass_limit"])
        bounded = np.isfinite(limit)
        words = f"p = {power:g}, " + (f"at most {limit:.3g}" if bounded else "unbounded")
        axes.annotate(words, (one["width"].values[-1], one["absolute_mass"].values[-1]), (4, 0),
                      textcoords="offset points", fontsize=7.5, va="center", color=str(shade))  # fmt: skip
        if bounded:
            axes.plot(one["width"].values[[0, -1]], [limit, limit], **_LIMIT)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    widths = data["width"].values
    axes.set_xlim(widths[0] * 0.9, widths[-1] * 6.5)
    axes.set_xticks(widths, [str(one) for one in widths])
    axes.minorticks_off()
    axes.set_xlabel("m")
    axes.set_ylabel(style.label(data["absolute_mass"]))
