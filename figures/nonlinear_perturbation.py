"""Trained nonlinear models: how far they are from their target as their weights move, and what they remember."""

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
    "perturbed",
    "beta",
    "time",
    "approximation_distance",
    "largest_perturbation_distance",
    "largest_total_distance",
    "memory_function",
    "initial_memory_function",
    "target_memory_function",
)
_ALONG = ("parameterization", "perturbed", "beta", "time")
_MOVED = {"linestyle": (0, (4, 1.5)), "linewidth": 1.0}
_OWN = {"linestyle": (0, (1, 1.5)), "linewidth": 1.0}
_TARGET = {"color": "0.1", "linestyle": "-", "linewidth": 1.0}
_START = {"color": "0.6", "linestyle": "-", "linewidth": 1.0}
_DECADES = 5


def draw(raw: xr.Dataset) -> Figure:
    """Draw a row of panels for each combination of what was swept beside the maps, medians over the seeds.

    For each set of perturbed weights the largest distance from the target over all directions and sizes up to beta, the
    distance of the perturbed model from the trained one, and that of the trained one from the target. Right the memory
    functions.

    Args:
        raw: dataset of the measurement `nonlinear_perturbation`.
    """
    raw = raw[list(NEEDS[4:])]
    if raw.sizes.get("seed", 1) > 1:
        raw = raw.median("seed", keep_attrs=True)
    rows = panels(raw, _ALONG)
    looks = style.looks(raw["parameterization"].values)
    sets = raw["perturbed"].values
    figure = Figure(figsize=(1.0 + 3.7 * (len(sets) + 1), 1.2 + 2.8 * len(rows)), layout="constrained")
    caption(figure, raw, _ALONG)
    every = figure.subplots(len(rows), len(sets) + 1, squeeze=False)
    for row, (*distances, memory) in zip(rows, every, strict=True):
        for place, (axes, one) in enumerate(zip(distances, sets, strict=True)):
            _distances(axes, row.data.sel(perturbed=one), looks)
            words = f"{one} weights moved"
            title(axes, f"{row.title}: {words}" if row.title and not place else words)
        distances[0].set_ylabel("distance")
        _memory(memory, row.data, looks)
        title(memory, "memory")
    legend(figure, [
        *(Line2D([], [], label=style.text(label), **style.line(look)) for label, look in looks.items()),
        Line2D([], [], label="perturbed model from the trained one", color="0.4", **_MOVED),
        Line2D([], [], label="trained model from the target", color="0.4", **_OWN),
        Line2D([], [], label="target", **_TARGET),
        Line2D([], [], label="before training, every map", **_START),
    ])  # fmt: skip
    return figure


def _distances(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    beta = data["beta"].values
    shown = beta > 0
    for label, look in looks.items():
        one = data.sel(parameterization=label)
        for name, more in (("largest_total_distance", style.line(look)), ("largest_perturbation_distance", _MOVED)):
            values = one[name].values
            values = np.where(np.isfinite(values), values, np.nan)
            axes.plot(beta[shown], values[shown], **{"color": look["color"], **more})
        axes.axhline(float(one["approximation_distance"]), color=look["color"], **_OWN)
    if shown.any():
        axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set_xlabel(style.label(data["beta"]))


def _memory(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    time = data["time"]
    axes.plot(time, data["initial_memory_function"].isel(parameterization=0), **_START)
    for label, look in looks.items():
        seen = data["memory_function"].sel(parameterization=label)
        axes.plot(time, seen.where(seen > 0), **style.line(look))
    target = data["target_memory_function"].isel(parameterization=0)
    axes.plot(time, target.where(target > 0), **_TARGET)
    axes.set_yscale("log")
    axes.minorticks_off()
    top = float(target.max())
    if np.isfinite(top) and top > 0:
        axes.set_ylim(top * 10**-_DECADES, 3 * top)
    axes.set_xlabel(style.label(time))
    axes.set_ylabel("memory function")
