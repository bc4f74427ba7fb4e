"""Gradient scale and gradient over weight of each map, over the weight and over the decay (the published Fig. 2)."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style

READS = ("raw",)
_PANELS = (
    ("gradient_scale", "weight"),
    ("gradient_over_weight", "weight"),
    ("gradient_scale_of_decay", "decay"),
    ("gradient_over_weight_of_decay", "decay"),
)


def draw(raw: xr.Dataset) -> Figure:
    """Draw the four curves of every map; a curve ends where the map does not reach, or is not stable.

    Args:
        raw: dataset of the measurement `gradient_scale`.
    """
    data = raw.isel({name: 0 for name in raw.dims if name not in ("parameterization", "weight", "decay")})
    figure = Figure(figsize=(7.2, 5.8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    for axes, (name, along) in zip(panels, _PANELS, strict=True):
        for position, label in enumerate(data["parameterization"].values):
            curve = data[name].sel(parameterization=label)
            axes.plot(
                data[along],
                curve.where(np.isfinite(curve)),
                label=style.text(label),
                **style.line_of_map(label, position),
            )
        axes.set_yscale("log")
        axes.set_ylim(1e-3, 1e6)
        if along == "decay":
            axes.set_xscale("log")
        style.label_axes(axes, data[along], data[name])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8))
    return figure
