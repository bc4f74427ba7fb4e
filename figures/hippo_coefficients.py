"""The coefficients of the state as bars, their polynomials behind them, and behind those the sum."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from stablessm.plotting import style
from stablessm.plotting.panels import legend, title

READS = ("raw",)
NEEDS = ("system", "moment", "time", "state", "series", "coefficient", "component", "reconstruction")
_SHOWN = 8
_BAR, _SUM, _SERIES = "#D55E00", "black", "0.6"


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each system at its last moment: the first coefficients, from near to far.

    Args:
        raw: dataset of the measurement `hippo`.
    """
    data = raw[list(NEEDS[4:])].isel(
        {name: 0 for name in raw.dims if name not in NEEDS}, missing_dims="ignore"
    ).isel(moment=-1)  # fmt: skip
    systems = data["system"].values
    shown = min(_SHOWN, data.sizes["state"])
    figure = Figure(figsize=(4.6 * len(systems) + 0.6, 4.4), layout="constrained")
    colours = [f"C{number}" for number in range(shown)]
    for place, name in enumerate(systems):
        one = data.isel(system=place)
        axes = figure.add_subplot(1, len(systems), place + 1, projection="3d")
        known = np.isfinite(one["reconstruction"].values)
        time = data["time"].values[known]
        series, said = data["series"].values[known], one["reconstruction"].values[known]
        parts = one["component"].values[:shown, known]
        low = float(min(parts.min(), series.min(), said.min()))
        numbers = np.arange(shown)
        for number in numbers:
            axes.plot(time, np.full(len(time), number), parts[number], color=colours[number], linewidth=1.1)
        axes.plot(time, np.full(len(time), shown + 1), series, color=_SERIES, linewidth=1.0)
        axes.plot(time, np.full(len(time), shown + 1), said, color=_SUM, linewidth=1.2)
        width = 0.04 * (time[-1] - time[0] or 1.0)
        values = one["coefficient"].values[:shown]
        axes.bar3d(np.full(shown, time[0] - 3 * width), numbers - 0.25, np.minimum(values, 0), width, 0.5,
                   np.abs(values), color=colours, shade=True)  # fmt: skip
        axes.set_zlim(low, float(max(parts.max(), series.max(), said.max(), 0.0)))
        axes.set_xlabel(style.label(data["time"]))
        axes.set_ylabel("coefficient")
        axes.set_yticks(
            [*numbers[:: max(1, shown // 4)], shown + 1], [*map(str, numbers[:: max(1, shown // 4)]), "sum"]
        )
        axes.set_zlabel(style.label(data["series"]))
        axes.set_box_aspect((1.5, 1.2, 0.9), zoom=1.0)
        axes.view_init(elev=24, azim=-58)
        title(axes, f"{style.text(name)}: {shown} of {data.sizes['state']} coefficients")
    legend(figure, [
        Patch(color=colours[0], label="coefficient"),
        Line2D([], [], color=colours[0], label="coefficient times its polynomial"),
        Line2D([], [], color=_SUM, label="sum of all, the state's memory"),
        Line2D([], [], color=_SERIES, label="series"),
    ])  # fmt: skip
    return figure
