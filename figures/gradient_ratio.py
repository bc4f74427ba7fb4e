"""Gradient over weight along training: per map the median over seeds of the maximum over the weights, and its range."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.curves import ratio_curves

READS = ("ratio_along_training",)


def draw(ratios: xr.Dataset) -> Figure:
    """Draw one panel for each target at the first learning rate.

    Args:
        ratios: what the analysis `ratio_along_training` returns.
    """
    along = ("parameterization", "step", "target")
    data = ratios.isel({name: 0 for name in ratios.dims if name not in along})
    targets = data["target"].values if "target" in data.dims else [None]
    figure = Figure(figsize=(0.8 + 4.2 * len(targets), 3.6), layout="constrained")
    panels = figure.subplots(1, len(targets), squeeze=False, sharey=True)[0]
    for axes, target in zip(panels, targets, strict=True):
        one = data if target is None else data.sel(target=target)
        ratio_curves(axes, one)
        if target is not None:
            axes.set_title(f"target: {style.text(target)}")
    panels[0].legend(loc="best")
    return figure
