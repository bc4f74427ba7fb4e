"""A linear-RNN classifier on images: accuracy by learning rate, and gradient over weight along training."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.curves import ratio_curves

READS = ("accuracy", "ratio_along_training")


def draw(accuracy: xr.Dataset, ratios: xr.Dataset) -> Figure:
    """Draw mean test accuracy with standard errors, and the ratio at the learning rate nearest to 1e-2.

    Args:
        accuracy: what the analysis `accuracy` returns.
        ratios: what the analysis `ratio_along_training` returns.
    """
    scores = accuracy.isel({n: 0 for n in accuracy.dims if n not in ("parameterization", "learning_rate")})
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for position, label in enumerate(scores["parameterization"].values):
        one = scores.sel(parameterization=label)
        left.errorbar(one["learning_rate"], one["mean_accuracy"], one["accuracy_error"], label=style.text(label),
                      capsize=2, markersize=4.5, **style.of_map(label, position))  # fmt: skip
    left.set_xscale("log")
    left.set_ylim(0, 1)
    style.label_axes(left, scores["learning_rate"], scores["mean_accuracy"])
    left.legend(loc="lower left")
    along = ratios.sel(learning_rate=1e-2, method="nearest")
    along = along.isel({n: 0 for n in along.dims if n not in ("parameterization", "step")})
    ratio_curves(right, along)
    right.set_title(f"learning rate {float(along['learning_rate']):g}")
    return figure
