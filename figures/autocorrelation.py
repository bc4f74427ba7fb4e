"""A measured memory and what each map's model makes of it: the kernels, and the fit error by learning rate."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("best_fit",)
NEEDS = ("parameterization", "learning_rate", "time")
_ALONG = ("parameterization", "learning_rate", "time")
_MEASURED = "0.45"


def draw(fits: xr.Dataset) -> Figure:
    """Draw the kernels at each map's best learning rate beside the target, and median and range of the errors.

    A hollow point has a seed whose run is not stable; where half of them are not, a cross at the top stands for it.

    Args:
        fits: what the analysis `best_fit` returns.
    """
    rows = panels(fits, _ALONG)
    figure = Figure(figsize=(8.6, 0.8 + 3.1 * len(rows)), layout="constrained")
    caption(figure, fits, _ALONG)
    every = figure.subplots(len(rows), 2, squeeze=False)
    for (left, right), row in zip(every, rows, strict=True):
        _kernels(left, row.data)
        title(left, row.title)
        _errors(right, row.data)
    measured = Line2D([], [], color=_MEASURED, marker="o", markersize=3.5, linestyle="none")
    handles, labels = every[0, 1].get_legend_handles_labels()
    handles, labels = [measured, *handles], ["target", *labels]
    finite, shaky = np.isfinite(fits["median_fit_error"]), fits["stable_seeds"] < fits["seeds"]
    if (finite & shaky).any():
        handles.append(Line2D([], [], color="0.3", marker="o", markerfacecolor="white", linestyle="none"))
        labels.append("not all seeds stable")
    if (~finite & shaky).any():
        handles.append(Line2D([], [], color="0.3", marker="x", linestyle="none"))
        labels.append("half of the seeds or more unstable")
    legend(figure, handles, labels)
    return figure


def _kernels(axes: Axes, fits: xr.Dataset) -> None:
    target = fits["target_kernel"].max("parameterization", keep_attrs=True)
    axes.axhline(0.0, color="0.75", linewidth=0.8)
    axes.plot(fits["time"], target, color=_MEASURED, marker="o", markersize=3.5, linestyle="none")
    for label, look in style.looks(fits["parameterization"].values).items():
        kernel = fits["fitted_kernel"].sel(parameterization=label)
        axes.plot(fits["time"], kernel.where(np.isfinite(kernel)), **{**style.line(look), "linewidth": 1.2})
    style.label_axes(axes, fits["time"], target)


def _errors(axes: Axes, fits: xr.Dataset) -> None:
    looks = style.looks(fits["parameterization"].values)
    apart = min(0.03, 0.15 / len(looks))  # decades, so that the bars of the maps show side by side
    for place, (label, look) in enumerate(looks.items()):
        one = fits.sel(parameterization=label)
        middle = one["median_fit_error"].values
        drawn = np.isfinite(middle)
        x = one["learning_rate"].values * 10 ** (apart * (place - (len(looks) - 1) / 2))
        ends = [one[f"{end}_fit_error"].values[drawn] for end in ("smallest", "greatest")]
        bars = [np.abs(np.where(np.isfinite(end), end, middle[drawn]) - middle[drawn]) for end in ends]
        axes.errorbar(x[drawn], middle[drawn], bars, label=style.text(label), capsize=2, markersize=4.5, **look)
        shaky = (one["stable_seeds"] < one["seeds"]).values
        hollow, lost = drawn & shaky, ~drawn & shaky
        axes.plot(x[hollow], middle[hollow], linestyle="none", marker=look["marker"], color=look["color"],
                  markersize=4.5, markerfacecolor="white", zorder=3)  # fmt: skip
        axes.plot(x[lost], np.full(lost.sum(), 0.98), transform=axes.get_xaxis_transform(), linestyle="none",
                  marker="x", color=look["color"])  # fmt: skip
    axes.set_xscale("log")
    middles = fits["median_fit_error"]
    if (np.isfinite(middles) & (middles > 0)).any():  # an axis without a positive value cannot be logarithmic
        axes.set_yscale("log")
    else:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no fit", transform=axes.transAxes, ha="center", color="0.35")
    style.label_axes(axes, fits["learning_rate"], fits["median_fit_error"])
