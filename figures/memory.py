"""What each map remembers before and after training, against its target, with the fitted decay."""

from __future__ import annotations

import textwrap

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels

READS = ("raw", "memory_decay")
NEEDS = ("parameterization", "seed", "step", "final_loss")
_ALONG = ("parameterization", "seed", "step", "state", "time", "lag", "weight")
_ALONG_FITS = (*_ALONG, "part", "curve_time")
_COLUMNS = 4
_DECADES = 4.5  # below the largest value of the target
_SYMBOLS = {"polynomial": "p", "exponential": "β"}
_INCHES_A_LETTER = 0.085  # of a heading
_LETTERS = 36  # in a line of a panel's title
_TIMES = ((0, "before"), (-1, "after"))
_BEFORE = {"color": "0.72", "linewidth": 0.9}
_FIT = {"color": "black", "linestyle": (0, (1, 1.2)), "linewidth": 1.5}
_TARGET = {"color": "#E6A000", "linewidth": 4.0, "alpha": 0.55, "solid_capstyle": "butt"}


def draw(raw: xr.Dataset, decay: xr.Dataset) -> Figure:
    """Draw a panel for each map, a block of them for each target (and whatever else was swept).

    Both axes are logarithmic, the time as 1 + t, so that (1 + t)^-p is a straight line and an exponential bends down.
    Every seed is drawn; the fit is that of the seed whose final loss is the median, over the samples trained on, which
    end at the vertical line. The words say how many seeds decay as exp(-beta t) and as (1 + c t)^-p,
    with the median rate.

    Args:
        raw: dataset of the measurement `memory`.
        decay: what the analysis `memory_decay` returns.
    """
    kept = ["memory_function", "target_memory_function", "final_loss", "horizon"]
    blocks = list(zip(panels(raw[kept], _ALONG), panels(decay, _ALONG_FITS), strict=True))
    looks = style.looks(raw["parameterization"].values)
    columns = min(_COLUMNS, len(looks))
    rows = -(-len(looks) // columns)
    size = max(5.4, 0.6 + 2.45 * columns), 0.9 + (2.3 * rows + 0.25) * len(blocks)
    figure = Figure(figsize=size, layout="constrained")
    caption(figure, raw[kept], _ALONG)
    parts = np.atleast_1d(figure.subfigures(len(blocks), 1))
    for part, (memory, fits) in zip(parts, blocks, strict=True):
        words = textwrap.wrap(_heading(memory.title, fits.data), int(size[0] / _INCHES_A_LETTER))
        part.suptitle("\n".join(words), fontsize=10, x=0.01, ha="left")
        every = part.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for unused in every.ravel()[len(looks) :]:
            unused.remove()
        for place, (axes, (label, look)) in enumerate(zip(every.ravel(), looks.items(), strict=False)):
            one = {"parameterization": label}
            _panel(axes, memory.data.sel(one), fits.data.sel(one), look["color"])
            lines = [
                part
                for step, when in _TIMES
                for part in textwrap.wrap(f"{when}: {_words(fits.data.sel(one), step)}", _LETTERS)
            ]
            axes.set_title(style.text(label), pad=6 + 11 * len(lines))
            axes.annotate("\n".join(lines), (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points",
                          fontsize=8, color="0.25", va="bottom")  # fmt: skip
            axes.tick_params(labelbottom=True)
            if place + columns >= len(looks):
                axes.set_xlabel(f"1 + {style.label(raw['time'])}")
            if place % columns == 0:
                axes.set_ylabel(style.label(raw["memory_function"]))
    legend(figure, [
        Line2D([], [], label="target", **_TARGET),
        Line2D([], [], label="before training", **_BEFORE),
        Line2D([], [], color="0.25", linewidth=1.3, label="after training (the map's colour), every seed"),
        Line2D([], [], label="fitted decay, exp(-βt) or (1 + ct)^-p (grey: before)", **_FIT),
        Line2D([], [], color="0.3", linewidth=0.8, linestyle=(0, (4, 2)), label="end of the samples trained on"),
    ])  # fmt: skip
    return figure


def _panel(axes: Axes, memory: xr.Dataset, fits: xr.Dataset, colour: str) -> None:
    x = 1 + memory["time"].values
    steps = memory["step"].values
    target = memory["target_memory_function"].isel(seed=0).values
    top = float(np.nanmax(target)) if np.isfinite(target).any() and np.nanmax(target) > 0 else 1.0
    axes.plot(x, _positive(target), **_TARGET)
    order = np.argsort(memory["final_loss"].values)
    chosen = int(order[(len(order) - 1) // 2])
    for seed in range(memory.sizes["seed"]):
        one = memory["memory_function"].isel(seed=seed)
        axes.plot(x, _positive(one.sel(step=steps[0]).values), zorder=1.5, **_BEFORE)
        thick = seed == chosen
        axes.plot(x, _positive(one.sel(step=steps[-1]).values), color=colour, linewidth=1.7 if thick else 0.7,
                  alpha=1.0 if thick else 0.6, zorder=3 if thick else 2)  # fmt: skip
    near = fits["fitted_memory_function"].sel(part="remembered").isel(seed=chosen)
    for step, look in ((steps[0], _FIT | {"color": "0.5"}), (steps[-1], _FIT)):
        axes.plot(1 + fits["curve_time"], near.sel(step=step), zorder=4, **look)
    horizon = int(memory["horizon"].max())
    if 0 < horizon < len(x):
        axes.axvline(x[horizon - 1], color="0.3", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, x[-1])
    axes.set_ylim(top * 10**-_DECADES, top * 3)
    axes.minorticks_off()


def _positive(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _heading(words: str, fits: xr.Dataset) -> str:
    found = fits.isel(parameterization=0).sel(part="remembered")
    kind = _meanings(found["target_fitted_kind"])[int(found["target_fitted_kind"])]
    fitted = f"its fitted decay: {_said(kind, float(found['target_fitted_decay']))}"
    return f"{words}, {fitted}" if words else f"target: {fitted}"


def _words(fits: xr.Dataset, place: int) -> str:
    """Return how many seeds decay in which way, the most common first, with the median of their rates."""
    one = fits.sel(part="remembered").isel(step=place)
    kinds, rates = one["fitted_kind"].values, one["fitted_decay"].values
    values, counts = np.unique(kinds, return_counts=True)
    said = []
    for code, count in sorted(zip(values.tolist(), counts.tolist(), strict=True), key=lambda pair: -pair[1]):
        kind = _meanings(one["fitted_kind"])[code]
        symbol = _SYMBOLS.get(kind)
        words = f"{symbol} = {np.median(rates[kinds == code]):.3g}" if symbol else kind.replace("_", " ")
        said.append(f"{count}/{len(kinds)} {words}")
    return ", ".join(said)


def _said(kind: str, rate: float) -> str:
    symbol = _SYMBOLS.get(kind)
    return f"{kind}, {symbol} = {rate:.3g}" if symbol else kind.replace("_", " ")


def _meanings(codes: xr.DataArray) -> dict[int, str]:
    values = np.atleast_1d(codes.attrs["flag_values"]).tolist()
    return dict(zip(values, str(codes.attrs["flag_meanings"]).split(), strict=True))
