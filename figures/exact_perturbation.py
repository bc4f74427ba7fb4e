"""Fig. 1 on best approximations: E_m(beta) between what is attained and what is bounded, and what it decides."""

from __future__ import annotations

import textwrap

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import blocks, circumstances, legend, panels, title

NEEDS = ("parameterization", "extent", "width", "stability_radius")
READS = ("raw", "exact_radius")
_ALONG = ("parameterization", "extent", "width", "perturbed", "beta")
_MOST_COLUMNS = 5
_THRESHOLD = 1e6
_HIGHEST = 1e9
_LOWEST = 1e-6
_RADIUS = {"marker": "|", "markersize": 9, "markeredgewidth": 1.6, "linestyle": "none"}
_LETTER = 0.066  # inches


def draw(raw: xr.Dataset, found: xr.Dataset) -> Figure:
    """Draw a row of maps for each extent and what moves, one curve for each width; medians over the seeds.

    Solid what is found by ascent, shaded what is between it and the upper bound, dashed the largest of the random
    directions. A bar at the lower edge is the stability radius: over an infinite horizon the error is infinite from
    there on. A radius smaller than every beta stands at the left edge, where the whole curve is infinite. Above all the
    reading in words.

    Args:
        raw: dataset of the measurement `exact_perturbation`.
        found: what the analysis `exact_radius` returns.
    """
    data = raw.median("seed", keep_attrs=True)
    maps = data["parameterization"].values.tolist()
    rows = [
        (panel, extent, moved)
        for panel in panels(data, _ALONG)
        for moved in data["perturbed"].values.tolist()
        for extent in data["extent"].values.tolist()
    ]
    deep = -(-len(maps) // _MOST_COLUMNS)  # rows of one panel's maps
    size = max(5.4, 0.9 + 2.4 * -(-len(maps) // deep)), 1.6 + 0.25 * len(maps) + 2.0 * len(rows) * deep
    figure = Figure(figsize=size, layout="constrained")
    lines = [circumstances(raw, (*_ALONG, "seed")), *reading(found)]
    words = [line for one in lines for line in textwrap.wrap(one, int(size[0] / _LETTER))]
    figure.suptitle("\n".join(words), x=0.01, ha="left", fontsize=7.5, color="0.25")
    colours = _colours(data["width"].values)
    names = {"x": style.label(data["beta"]), "y": style.label(data["perturbation_error"])}
    every = blocks(figure, len(rows), len(maps), columns=_MOST_COLUMNS, **names)
    for (panel, extent, moved), row in zip(rows, every, strict=True):
        for axes, label in zip(row, maps, strict=True):
            _panel(axes, panel.data.sel(parameterization=label, extent=extent, perturbed=moved), colours)
            title(axes, ", ".join(filter(None, (f"{style.text(label)}: {moved}", extent, panel.title))))
    every[0][0].set_xscale("log")
    every[0][0].set_yscale("log")
    every[0][0].set_ylim(_LOWEST, _HIGHEST)
    every[0][0].minorticks_off()
    legend(figure, _keys(data, colours))
    return figure


def _colours(widths: np.ndarray) -> dict[int, tuple]:
    shades = matplotlib.colormaps["viridis_r"](np.linspace(0.12, 1.0, len(widths)))
    return {int(width): tuple(shade) for width, shade in zip(widths, shades, strict=True)}


def _panel(axes: Axes, data: xr.Dataset, colours: dict[int, tuple]) -> None:
    beta = data["beta"].values
    axes.axhline(_THRESHOLD, color="0.45", linewidth=0.8, linestyle=":")
    for width, colour in colours.items():
        one = data.sel(width=width)
        low, high, sampled = (
            np.where(np.isposinf(one[name].values), _HIGHEST**3, one[name].values)
            for name in ("perturbation_error", "perturbation_error_bound", "sampled_perturbation_error")
        )
        axes.fill_between(beta, low, high, color=colour, alpha=0.3, linewidth=0)
        axes.plot(beta, low, color=colour, linewidth=1.5)
        axes.plot(beta, sampled, color=colour, linewidth=0.9, linestyle=(0, (3, 1.5)))
        radius = float(one["stability_radius"])
        if np.isfinite(radius):
            axes.plot(np.clip(radius, beta[0], beta[-1]), _LOWEST * 2, color=colour, **_RADIUS)
    words = ""
    if data["perturbation_error"].isnull().all():
        words = "does not reach the decays"
    elif np.isfinite(data["stability_radius"]).any():
        words = "radius\n" + "\n".join(f"{float(one):.1e}" for one in data["stability_radius"])
    place = (0.97, "right") if str(data["extent"].values) == "infinite" else (0.03, "left")  # where no curve is
    axes.text(place[0], 0.95, words, transform=axes.transAxes, ha=place[1], va="top", fontsize=7, color="0.35")


def _keys(data: xr.Dataset, colours: dict[int, tuple]) -> list[Line2D]:
    name = style.label(data["width"])
    return [
        *(Line2D([], [], color=colour, linewidth=2.0, label=f"{name} {width}") for width, colour in colours.items()),
        Line2D([], [], color="0.3", linewidth=1.5, label="found"),
        Line2D([], [], color="0.3", linewidth=6, alpha=0.3, label="up to the bound"),
        Line2D([], [], color="0.3", linewidth=0.9, linestyle=(0, (3, 1.5)), label="random directions"),
        Line2D([], [], color="0.3", label="stability radius", **_RADIUS),
        Line2D([], [], color="0.45", linewidth=0.8, linestyle=":", label="threshold $10^6$"),
    ]


def reading(found: xr.Dataset) -> list[str]:
    """Return what the numbers decide, a sentence for each map and extent; other axes at their first value.

    Over a finite horizon the published beta stands beside them, where there is one, and where nothing can become
    unstable in continuous time how far Euler's step is from it.

    Args:
        found: what the analysis `exact_radius` returns.
    """
    shown = ("parameterization", "extent", "width", "perturbed")
    one = found.isel({name: 0 for name in found.dims if name not in shown})
    return [
        f"{style.text(label)}, {extent} horizon: {_decided(one.sel(parameterization=label, extent=extent))}."
        for label in one["parameterization"].values
        for extent in one["extent"].values
    ]


def _decided(data: xr.Dataset) -> str:
    narrow, wide = (f"m = {int(data['width'][place])}" for place in (0, -1))
    radius = data["stability_radius"].values
    if np.isnan(radius).any():
        return "the map does not reach the decays of the best fits"
    if str(data["extent"].values) == "infinite" and np.isfinite(radius).all():
        moved = "shifts left with m, as published" if radius[-1] < 0.9 * radius[0] else "does not shift with m"
        return f"infinite from beta = {radius[0]:.2g} ({narrow}) to {radius[-1]:.2g} ({wide}) on: {moved}"
    parts = [_moved(data.sel(perturbed=one), narrow, wide) for one in data["perturbed"].values]
    parts = [one for one in parts if one]
    if str(data["extent"].values) == "finite":
        published = data["published_explosion_beta"].values
        there = np.flatnonzero(np.isfinite(published))
        if there.size:
            ends = [f"{published[place]:.2g} (m = {int(data['width'][place])})" for place in there[[0, -1]]]
            parts.append(f"published: passes 1e6 at {' and '.join(dict.fromkeys(ends))}")
        euler = data["euler_radius"].values
        if np.isposinf(radius).all() and np.isfinite(euler).all():
            parts.append(f"Euler's step is unstable from {euler[0]:.2g} ({narrow}) and {euler[-1]:.2g} ({wide}) on")
    return "; ".join(parts) or "infinite at some width"


def _moved(data: xr.Dataset, narrow: str, wide: str) -> str:
    moving, errors = str(data["perturbed"].values), data["reference_error"].values
    first, last = (float(data["explosion_beta"][place]) for place in (0, -1))
    if np.isfinite([first, last]).all():
        moved = "shifts left with m" if last < 0.9 * first else "does not shift"
        return f"{moving} weights: passes 1e6 at beta = {first:.2g} ({narrow}) and {last:.2g} ({wide}), {moved}"
    if np.isfinite(errors).all():
        moved = float(data["reference_beta"])
        return f"{moving} weights moved by {moved:.2g}: {errors[0]:.2g} ({narrow}) to {errors[-1]:.2g} ({wide})"
    return ""
