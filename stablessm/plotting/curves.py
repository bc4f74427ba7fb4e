"""Curves that several figures share."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from stablessm.plotting import style

_MOST_BANDS = 5


def ratio_curves(axes: Axes, data: xr.Dataset) -> None:
    """Draw median and range of every map along the steps; a cross where a seed meets a non-finite step.

    Args:
        axes: where.
        data: what `ratio_along_training` returns, along `parameterization` and `step` alone.
    """
    looks = style.looks(data["parameterization"].values)
    for label, look in looks.items():
        one = data.sel(parameterization=label)
        drawn = one.where(np.isfinite(one["median_ratio"]) & (one["median_ratio"] > 0))
        axes.plot(one["step"], drawn["median_ratio"], label=style.text(label), **style.line(look))
        if len(looks) <= _MOST_BANDS:
            axes.fill_between(
                one["step"], drawn["smallest_ratio"], drawn["greatest_ratio"], color=look["color"], alpha=0.15,
                linewidth=0,
            )  # fmt: skip
        survivors = one["survivors"].values
        lost = np.flatnonzero(np.diff(survivors) < 0)
        axes.plot(one["step"][lost], drawn["median_ratio"][lost], linestyle="none", marker="x", color=look["color"])
    if (data["median_ratio"] > 0).any():  # an axis without a positive value cannot be logarithmic
        axes.set_yscale("log")
    else:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "nothing positive and finite", transform=axes.transAxes, ha="center", color="0.35")
    axes.set_xlabel(style.label(data["step"]))
    axes.set_ylabel(style.label(data["median_ratio"]))


def loses_seeds(data: xr.Dataset) -> bool:
    """Return whether any run of `ratio_along_training` meets a non-finite step behind its first record."""
    return bool((np.diff(data["survivors"].transpose(..., "step").values, axis=-1) < 0).any())
