"""A classifier of images: accuracy by learning rate, and gradient over weight along training, layer by layer."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.curves import loses_seeds, ratio_curves
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("accuracy", "ratio_along_training")
NEEDS = ("parameterization", "learning_rate")
_ALONG = ("parameterization", "learning_rate", "step")


def draw(accuracy: xr.Dataset, ratios: xr.Dataset) -> Figure:
    """Draw mean test accuracy with standard errors, and each layer's ratio at the learning rate best on average.

    A hollow point has a seed whose run is not stable.

    Args:
        accuracy: what the analysis `accuracy` returns.
        ratios: what the analysis `ratio_along_training` returns.
    """
    layered = ratios if "layer" in ratios.dims else ratios.expand_dims("layer")
    rows = list(zip(panels(accuracy, _ALONG), panels(layered, (*_ALONG, "layer")), strict=True))
    layers = layered.sizes["layer"]
    figure = Figure(figsize=(4.3 * (1 + layers), 0.8 + 3.0 * len(rows)), layout="constrained")
    caption(figure, accuracy, _ALONG)
    every = figure.subplots(len(rows), 1 + layers, squeeze=False)
    for (left, *right), (scores, along) in zip(every, rows, strict=True):
        _accuracies(left, scores.data)
        title(left, scores.title)
        rate = _best_rate(scores.data)
        for layer, axes in enumerate(right):
            ratio_curves(axes, along.data.isel(layer=layer).sel(learning_rate=rate, method="nearest"))
            of = f"layer {layer + 1}, " if layers > 1 else ""
            axes.set_title(f"{of}{style.label(accuracy['learning_rate'])} {rate:g}, the best on average")
    handles, labels = every[0, 0].get_legend_handles_labels()
    if (accuracy["stable_seeds"] < accuracy["seeds"]).any():
        handles.append(Line2D([], [], color="0.3", marker="o", markerfacecolor="white", linestyle="none"))
        labels.append("not all seeds stable")
    if loses_seeds(ratios):
        handles.append(Line2D([], [], color="0.3", marker="x", linestyle="none"))
        labels.append("a seed meets a non-finite step")
    legend(figure, handles, labels)
    return figure


def _best_rate(scores: xr.Dataset) -> float:
    mean = scores["mean_accuracy"].fillna(0.0).mean("parameterization")
    return float(scores["learning_rate"][int(mean.argmax("learning_rate"))])


def _accuracies(axes: Axes, scores: xr.Dataset) -> None:
    looks = style.looks(scores["parameterization"].values)
    apart = min(0.03, 0.15 / len(looks))  # decades, so that the bars of the maps show side by side
    for place, (label, look) in enumerate(looks.items()):
        one = scores.sel(parameterization=label)
        x = one["learning_rate"].values * 10 ** (apart * (place - (len(looks) - 1) / 2))
        mean, error = one["mean_accuracy"].values, np.nan_to_num(one["accuracy_error"].values)
        axes.errorbar(x, mean, error, label=style.text(label), capsize=2, markersize=4.5, **look)
        shaky = (one["stable_seeds"] < one["seeds"]).values
        axes.plot(x[shaky], mean[shaky], linestyle="none", marker=look["marker"], color=look["color"], markersize=4.5,
                  markerfacecolor="white", zorder=3)  # fmt: skip
    axes.set_xscale("log")
    lowest = scores["mean_accuracy"] - scores["accuracy_error"].fillna(0.0)
    bottom = float(np.nanmin([0.8, *lowest.values.ravel()])) - 0.02
    axes.set_ylim(max(0.0, np.floor(10 * bottom) / 10), 1.0)
    style.label_axes(axes, scores["learning_rate"], scores["mean_accuracy"])
