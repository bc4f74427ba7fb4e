"""The maps: decay, eigenvalue and margin over the raw weight."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style

READS = ("raw",)


def draw(raw: xr.Dataset) -> Figure:
    """Draw one panel each for decay, eigenvalue and margin, all maps under the first link.

    Args:
        raw: dataset of the measurement `maps`.
    """
    data = raw.isel({name: 0 for name in raw.dims if name not in ("parameterization", "weight")})
    figure = Figure(figsize=(9.6, 3.3), layout="constrained")
    panels = figure.subplots(1, 3)
    for axes, name in zip(panels, ("decay", "eigenvalue", "margin"), strict=True):
        for position, label in enumerate(data["parameterization"].values):
            curve = data[name].sel(parameterization=label)
            axes.plot(data["weight"], curve, label=style.text(label), **style.line_of_map(label, position))
        style.label_axes(axes, data["weight"], data[name])
    panels[0].set_ylim(-1, 6)
    panels[1].set_ylim(-6, 1)
    panels[2].set_ylim(-1, 6)
    for axes in panels:
        axes.axhline(0, color="0.4", linewidth=0.8, zorder=0)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8))
    return figure
