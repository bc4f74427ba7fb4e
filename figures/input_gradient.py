"""How the gradient by the inputs grows with the length of a series, before and after training."""

from __future__ import annotations

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, grid, legend, panels, title

READS = ("raw",)
NEEDS = ("model", "stage", "series_length", "seed", "first_input_gradient", "input_gradient")
_ALONG = ("model", "stage", "series_length", "seed")
_QUANTITIES = ("first_input_gradient", "input_gradient")
_LARGEST, _SMALLEST = 1e12, 1e-12


def draw(raw: xr.Dataset) -> Figure:
    """Draw a row of panels for each quantity: before and after training, a line for each model.

    A line is the median over the seeds, its band their range; an infinite value stands at the upper edge.

    Args:
        raw: dataset of the measurement `comparison` with `series_lengths`.
    """
    data = raw[list(_QUANTITIES)]
    looks = _looks([str(one) for one in data["model"].values])
    found, stages = panels(data, _ALONG), [str(one) for one in data["stage"].values]
    rows = len(_QUANTITIES) * len(found)
    figure = Figure(figsize=(0.4 + 3.6 * len(stages), 1.6 + 2.4 * rows), layout="constrained")
    caption(figure, data, _ALONG)
    every = grid(figure, rows * len(stages), columns=len(stages), sharex=True)
    for place, axes in enumerate(every):
        row, column = divmod(place, len(stages))
        panel = found[row // len(_QUANTITIES)]
        values = panel.data[_QUANTITIES[row % len(_QUANTITIES)]].isel(stage=column)
        _lines(axes, values, looks)
        title(axes, ", ".join(filter(None, [stages[column], panel.title])))
        axes.set_ylabel(style.label(values))
        axes.tick_params(labelbottom=True)
    for axes in every[-len(stages) :]:
        axes.set_xlabel(style.label(data["series_length"]))
    legend(figure, *every[0].get_legend_handles_labels())
    return figure


def _looks(labels: list[str]) -> dict[str, dict]:
    """A colour each, and other dashes where these begin anew."""
    colors, dashes = matplotlib.color_sequences["okabe_ito"], ("-", "--", ":", "-.")
    return {
        label: {"color": colors[place % len(colors)], "linestyle": dashes[place // len(colors) % len(dashes)]}
        for place, label in enumerate(labels)
    }


def _lines(axes: Axes, values: xr.DataArray, looks: dict) -> None:
    lengths = values["series_length"].values
    for label, look in looks.items():
        by_seed = np.clip(values.sel(model=label).transpose("seed", "series_length").values, _SMALLEST, _LARGEST)
        if np.isnan(by_seed).all():
            continue
        axes.plot(
            lengths,
            np.nanmedian(by_seed, 0),
            label=style.text(label.replace("_", " ")),
            marker="o",
            markersize=3,
            **look,
        )
        axes.fill_between(lengths, np.nanmin(by_seed, 0), np.nanmax(by_seed, 0), color=look["color"], alpha=0.15)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
