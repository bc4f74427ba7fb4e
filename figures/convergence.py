"""Convergence and generalisation by learning rate: steps to a threshold, and the loss on new sequences."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("convergence",)
NEEDS = ("parameterization", "learning_rate")
_ALONG = ("parameterization", "learning_rate")


def draw(losses: xr.Dataset) -> Figure:
    """Draw two panels for each combination of what else was swept; bands are 95% intervals over seeds.

    Args:
        losses: what the analysis `convergence` returns.
    """
    rows, looks = panels(losses, _ALONG), style.looks(losses["parameterization"].values)
    figure = Figure(figsize=(8.4, 0.9 + 3.1 * len(rows)), layout="constrained")
    caption(figure, losses, _ALONG)
    for row, pair in zip(rows, figure.subplots(len(rows), 2, squeeze=False, sharex=True), strict=True):
        for axes, name, words in zip(
            pair,
            ("steps", "test_loss"),
            ("steps to 1% of the zero model's loss", "loss at the end, on new sequences"),
            strict=True,
        ):
            for label, look in looks.items():
                _curve(axes, row.data.sel(parameterization=label), name, look)
            if name == "test_loss":
                axes.axhline(float(row.data["zero_loss"]), color="0.3", linestyle=":", linewidth=1.0)
            _scale(axes, row.data[f"median_{name}"], most=3 * float(row.data["zero_loss"]) if name != "steps" else None)
            axes.set_ylabel(words)
            axes.set_xlabel(style.label(losses["learning_rate"]))
            title(axes, row.title)
    handles = [Line2D([], [], label=style.text(label), **(look | {"markersize": 4})) for label, look in looks.items()]
    handles.append(Line2D([], [], color="0.3", linestyle=":", linewidth=1.0, label="of the zero model"))
    legend(figure, handles)
    return figure


def _curve(axes: Axes, data: xr.Dataset, name: str, look: dict) -> None:
    low, middle, high = (data[f"{prefix}_{name}"] for prefix in ("low", "median", "high"))
    drawn = np.isfinite(middle) & (middle > 0)
    rate = data["learning_rate"]
    axes.plot(rate, middle.where(drawn), **(look | {"markersize": 4}))
    ceiling = 10 * float(middle.where(drawn, 1.0).max())  # an infinite end leaves the panel
    axes.fill_between(rate, low.where(drawn), high.where(np.isfinite(high), ceiling).where(drawn), color=look["color"],
                      alpha=0.15, linewidth=0)  # fmt: skip


def _scale(axes: Axes, values: xr.DataArray, *, most: float | None) -> None:
    """Set both axes: every positive and finite value is seen, but for those above `most`."""
    rates = values["learning_rate"].values
    axes.set_xscale("log")
    if len(rates) > 1:
        axes.set_xlim(0.7 * rates.min(), rates.max() / 0.7)
    seen = values.values[np.isfinite(values.values) & (values.values > 0)]
    seen = seen if most is None else np.append(seen[seen <= most], most)
    if len(seen):
        axes.set_yscale("log")
        axes.set_ylim(0.6 * seen.min(), (1.7 if most is None else 1.0) * seen.max())
