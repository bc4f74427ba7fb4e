"""A training run: the loss of its batches, and its metric on held-out rows with the score on the test rows."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import legend

_TRAINING, _HELD_OUT, _TEST, _COUNTS = "#56B4E9", "#0072B2", "#D55E00", "0.3"


def draw(run: xr.Dataset) -> Figure:
    """Draw the dataset of a run to which scores were added (`runs.noting`): bars are standard errors over test rows.

    Args:
        run: with `loss` (step), one `validation_METRIC` beside the loss and `test_METRIC` with its error.
    """
    metric = next(str(name).removeprefix("validation_") for name in run
                  if str(name).startswith("validation_") and name != "validation_loss")  # fmt: skip
    figure = Figure(figsize=(8.4, 3.3), layout="constrained")
    figure.suptitle(style.text(run.attrs["experiment"]), fontsize=9.0)
    left, right = figure.subplots(1, 2)
    loss = run["loss"].where(np.isfinite(run["loss"]) & (run["loss"] > 0))
    left.plot(run["step"], loss, color=_TRAINING, linewidth=0.6)
    if bool((loss > 0).any()):
        left.set_yscale("log")
    style.label_axes(left, run["step"], run["loss"])
    seen = run[f"validation_{metric}"]
    right.plot(run["validation_step"], seen, color=_HELD_OUT, marker="o", markersize=3)
    handles = [
        Line2D([], [], color=_TRAINING, label="batches of training rows"),
        Line2D([], [], color=_HELD_OUT, marker="o", markersize=3, label="held-out rows"),
    ]
    name = f"test_{metric}"
    if name in run and np.isfinite(run[name]):
        error = float(run[f"{name}_error"])
        right.errorbar(int(run["best_step"]), float(run[name]), yerr=error if np.isfinite(error) else None, color=_TEST,
                       marker="D", markersize=4, capsize=3, linestyle="none")  # fmt: skip
        handles.append(Line2D([], [], color=_TEST, marker="D", markersize=4, linestyle="none",
                              label=f"test rows: {float(run[name]):.4g} ± {error:.1g}"))  # fmt: skip
    if f"{name}_of_counts" in run:
        counts = float(run[f"{name}_of_counts"])
        right.axhline(counts, color=_COUNTS, linestyle=":")
        handles.append(Line2D([], [], color=_COUNTS, linestyle=":", label=f"counts of pieces of tokens: {counts:.4g}"))
    right.set_xlabel(style.label(run["step"]))
    right.set_ylabel(metric.replace("_", " "))
    legend(figure, handles)
    return figure
