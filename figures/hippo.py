"""A real series from the state alone: by the scaled system, which remembers all of it, and by the fixed one."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import grid, legend, title

READS = ("raw",)
NEEDS = ("system", "moment", "time", "series", "reconstruction", "error", "recent_error")
_SAID = {"scaled": "x' = (Ax + Bu)/t", "fixed": "x' = (Ax + Bu)/T"}
_COLOURS = {"scaled": "#D55E00", "fixed": "#0072B2"}


def draw(raw: xr.Dataset) -> Figure:
    """Draw a row for each system and a column for each moment, the errors in the titles.

    Args:
        raw: dataset of the measurement `hippo`.
    """
    data = raw[list(NEEDS[3:])].isel(
        {name: 0 for name in raw.dims if name not in ("system", "moment", "time", "state")}, missing_dims="ignore"
    )
    systems, moments = data["system"].values, data["moment"].values
    figure = Figure(figsize=(2.9 * max(2, len(moments)), 0.9 + 2.3 * len(systems)), layout="constrained")
    time, series = data["time"].values, data["series"].values
    low, high = float(series.min()), float(series.max())
    room = 0.35 * (high - low or 1.0)
    every = grid(figure, len(systems) * len(moments), columns=len(moments), sharex=True, sharey=True)
    for place, axes in enumerate(every):
        row, column = divmod(place, len(moments))
        name, one = str(systems[row]), data.isel(system=row, moment=column)
        axes.plot(time, series, color="0.75", linewidth=1.0, label="series")
        axes.plot(time, one["reconstruction"], color=_COLOURS.get(name, "black"), linewidth=1.3,
                  label=f"from the state, {_SAID.get(name, name)}")  # fmt: skip
        axes.axvline(float(moments[column]), color="0.3", linewidth=0.8, linestyle=(0, (4, 2)))
        axes.set_ylim(low - room, high + room)
        title(axes, f"{style.text(name)}, {moments[column]} steps: error {_percent(one['error'])}, latest "
                    f"{_percent(one['recent_error'])}")  # fmt: skip
        if row + 1 == len(systems):
            axes.set_xlabel(style.label(data["time"]))
        if column == 0:
            axes.set_ylabel(style.label(data["series"]))
    chosen = [axes.get_legend_handles_labels() for axes in every[:: len(moments)]]
    legend(figure, [chosen[0][0][0], *(handles[1] for handles, _ in chosen)])
    return figure


def _percent(value: xr.DataArray) -> str:
    known = float(value)
    return f"{100 * known:.0f}%" if np.isfinite(known) else "infinite"
