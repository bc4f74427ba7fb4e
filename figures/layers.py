"""Each recurrent layer of a network by itself: a row for each, with C, memory, perturbation and stable rate."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("raw",)
NEEDS = ("parameterization", "seed", "layer", "step", "time", "beta", "quantile", "gradient_constant",
         "initial_memory_function", "memory_function", "largest_perturbation_distance",
         "layer_largest_stable_learning_rate")  # fmt: skip
_ALONG = ("parameterization", "seed", "layer", "step", "time", "beta", "quantile", "repeat", "state")


def draw(raw: xr.Dataset) -> Figure:
    """Draw medians over seeds; memory before training is dashed, and bars of rates span the seeds.

    Args:
        raw: dataset of the measurement `layer_by_layer`.
    """
    found, layers = panels(raw, _ALONG), raw["layer"].values
    looks = style.looks(raw["parameterization"].values)
    figure = Figure(figsize=(12.6, 0.9 + 2.7 * len(layers) * len(found)), layout="constrained")
    caption(figure, raw, _ALONG)
    for panel, part in zip(found, np.ravel(figure.subfigures(len(found), 1)), strict=True):
        part.suptitle(panel.title, x=0.01, ha="left", fontsize=8.5)
        every = part.subplots(len(layers), 4, squeeze=False)
        for place, row in enumerate(every):
            one = panel.data.isel(layer=place)
            largest = one["gradient_constant"].sel(quantile=1.0)
            _curves(row[0], [(largest, "step", "-")], looks)
            _curves(row[1], [(one["memory_function"], "time", "-"), (one["initial_memory_function"], "time", "--")],
                    looks)  # fmt: skip
            _curves(row[2], [(one["largest_perturbation_distance"], "beta", "-")], looks, logarithmic=True)
            _rates(row[3], one["layer_largest_stable_learning_rate"], looks)
            row[0].set_title(f"layer {layers[place]}: fitted C")
            row[1].set_title("memory function up to it")
            row[2].set_title("its raw weights moved")
            row[3].set_title("its largest stable rate")
            for axes in row:
                axes.minorticks_off()  # most of the time of drawing
    maps = [Line2D([], [], label=style.text(label), color=look["color"], marker=look["marker"])
            for label, look in looks.items()]  # fmt: skip
    legend(figure, [*maps, Line2D([], [], color="0.3", linestyle="--", label="before training")])
    return figure


def _curves(axes: Axes, drawn: list[tuple[xr.DataArray, str, str]], looks: dict, *, logarithmic: bool = False) -> None:
    positive = False
    for values, along, dash in drawn:
        middle = values.median("seed")
        middle = middle.where(np.isfinite(middle) & (middle > 0))
        positive |= bool(middle.notnull().any())
        for label, look in looks.items():
            axes.plot(values[along], middle.sel(parameterization=label), color=look["color"], linestyle=dash)
    if positive:
        axes.set_yscale("log")
    if logarithmic and (values[along] > 0).any():
        axes.set_xscale("log")
    style.label_axes(axes, drawn[0][0][drawn[0][1]], drawn[0][0])


def _rates(axes: Axes, rates: xr.DataArray, looks: dict) -> None:
    for place, (label, look) in enumerate(looks.items()):
        one = rates.sel(parameterization=label)
        known = one.where(np.isfinite(one) & (one > 0))
        if known.notnull().any():
            axes.plot(place, known.median(), color=look["color"], marker=look["marker"])
            axes.vlines(place, known.min(), known.max(), color=look["color"], linewidth=1.0)
    axes.set_xticks(range(len(looks)), [style.text(label) for label in looks], rotation=25)
    if ((rates > 0) & np.isfinite(rates)).any():
        axes.set_yscale("log")
    axes.set_ylabel("learning rate")
