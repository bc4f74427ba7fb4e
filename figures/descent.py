"""Gradient descent on x^4, x^2 and sqrt|x|: from where which step settles, wanders and diverges."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = ("learning_rate", "potential", "start", "step", "distance", "behaviour")
_ALONG = ("learning_rate", "potential", "start", "step")
_NAMES = {"quartic": "x^4", "quadratic": "x^2", "root": "sqrt |x|"}
_COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#56B4E9")
_VIEW = (1e-5, 1e5)


def draw(raw: xr.Dataset) -> Figure:
    """Draw a panel for each potential and learning rate, a line for each start.

    The horizontal line is the distance that decides: 1/sqrt(2 eta) for x^4, the two-cycle (eta/4)^(2/3) for sqrt|x|.

    Args:
        raw: dataset of the measurement `descent`.
    """
    blocks = panels(raw, _ALONG)
    rates, potentials, starts = (raw[name].values for name in ("learning_rate", "potential", "start"))
    rows = len(blocks) * len(rates)
    figure = Figure(figsize=(max(5.4, 0.9 + 2.7 * len(potentials)), 0.9 + 1.9 * rows), layout="constrained")
    caption(figure, raw, _ALONG)
    grid = figure.subplots(rows, len(potentials), squeeze=False, sharex=True, sharey=True)
    codes = raw["behaviour"]
    words = dict(
        zip(np.atleast_1d(codes.attrs["flag_values"]).tolist(), codes.attrs["flag_meanings"].split(), strict=True)
    )
    for place, every in enumerate(grid):
        block, rate = blocks[place // len(rates)], rates[place % len(rates)]
        for axes, potential in zip(every, potentials, strict=True):
            one = block.data.sel(learning_rate=rate, potential=potential)
            for start, colour in zip(starts, _COLOURS * len(starts), strict=False):
                run = one["distance"].sel(start=start)
                shown = run.where(np.isfinite(run) & (run > 0))
                axes.plot(run["step"], shown.clip(_VIEW[0] / 10, _VIEW[1] * 10), color=colour, linewidth=1.0)
            if potential != "quadratic":
                axes.axhline(1, color="0.3", linestyle=":", linewidth=0.9)
            axes.set_yscale("log")
            axes.set_ylim(*_VIEW)
            axes.minorticks_off()
            said = dict.fromkeys(words[int(code)] for code in one["behaviour"].values)
            title(axes, ", ".join(filter(None, [f"{_NAMES.get(potential, potential)}, η = {rate:g}: "
                                                f"{' or '.join(said)}", block.title])))  # fmt: skip
        every[0].set_ylabel(style.text(raw["distance"].attrs["long_name"]) + " / deciding")
    for axes in grid[-1]:
        axes.set_xlabel(style.label(raw["step"]))
    legend(figure, [
        *(Line2D([], [], color=colour, label=f"start at {start:g}")
          for start, colour in zip(starts, _COLOURS * len(starts), strict=False)),
        Line2D([], [], color="0.3", linestyle=":", linewidth=0.9, label="distance that decides"),
    ])  # fmt: skip
    return figure
