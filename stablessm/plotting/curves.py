"""Curves that several figures share."""

from __future__ import annotations

import xarray as xr
from matplotlib.axes import Axes

from stablessm.plotting import style


def ratio_curves(axes: Axes, data: xr.Dataset) -> None:
    """Draw median and range of every map along the steps.

    Args:
        axes: where.
        data: along `parameterization` and `step` alone.
    """
    for position, label in enumerate(data["parameterization"].values):
        one = data.sel(parameterization=label)
        line = style.line_of_map(label, position)
        axes.plot(one["step"], one["median_ratio"], label=style.text(label), **line)
        axes.fill_between(
            one["step"], one["smallest_ratio"], one["greatest_ratio"], color=line["color"], alpha=0.15, linewidth=0
        )
    axes.set_yscale("log")
    axes.set_xlabel(style.label(data["step"]))
    axes.set_ylabel("largest |gradient| / |weight|")
