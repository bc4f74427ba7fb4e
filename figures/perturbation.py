"""Perturbation error against the size of the perturbation, one panel for each map, one line for each width (Fig. 1)."""

from __future__ import annotations

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stablessm.plotting import style
from stablessm.plotting.panels import blocks, caption, legend, panels, title

NEEDS = ("parameterization", "width", "seed", "error_horizon")
READS = ("raw", "perturbation_radius")
_ALONG = ("parameterization", "width", "seed", "error_horizon", "repeat", "beta", "state")
_CURVES = ["largest_perturbation_error"]
_MOST_COLUMNS = 5
_THRESHOLD = 1e6
_HIGHEST = 1e9
_LETTERS = 26  # in a line of a panel
_DASHES = ("-", (0, (3, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)))


def draw(raw: xr.Dataset, radius: xr.Dataset) -> Figure:
    """Draw the median over seeds of the running maximum, over the longest horizon and, thinner, over the shorter ones.

    A disc marks where the median error over the longest horizon passes the threshold, a ring where the sampled loss of
    the published runs does, a triangle where it did there (with Euler's step, so that it stands in those panels where
    there are any). A size of 0 stands at the left edge; an infinite error leaves the panel at its top.

    Args:
        raw: dataset of the measurement `perturbation`.
        radius: what the analysis `perturbation_radius` returns.
    """
    data = raw[_CURVES]
    found, marks = panels(data, _ALONG), panels(radius, _ALONG)
    maps = data["parameterization"].values
    deep = -(-len(maps) // _MOST_COLUMNS)  # rows of one panel's maps
    size = max(4.4, 0.7 + 2.35 * -(-len(maps) // deep)), 1.3 + 2.1 * deep * len(found)
    figure = Figure(figsize=size, layout="constrained")
    caption(figure, data, _ALONG)
    names = {"x": style.label(data["beta"]), "y": style.label(data["largest_perturbation_error"])}
    every = blocks(figure, len(found), len(maps), columns=_MOST_COLUMNS, **names)
    colours = _colours(data["width"].values)
    published = _published_in(radius)
    for panel, mark, row in zip(found, marks, every, strict=True):
        for axes, label in zip(row, maps, strict=True):
            _panel(axes, panel.data.sel(parameterization=label), colours)
            _marks(axes, mark.data.sel(parameterization=label), colours, published)
            _name(axes, style.text(label))
            title(axes, panel.title)
    _scales(every[0][0], data)
    legend(figure, _keys(data, radius, colours))
    return figure


def _colours(widths: np.ndarray) -> dict[int, tuple]:
    shades = matplotlib.colormaps["viridis_r"](np.linspace(0.12, 1.0, len(widths)))
    return {int(width): tuple(shade) for width, shade in zip(widths, shades, strict=True)}


def _name(axes: Axes, words: str) -> None:
    """Write the name of a map into the corner that its curves leave free."""
    lines = [words[start : start + _LETTERS] for start in range(0, len(words), _LETTERS)]
    axes.text(0.04, 0.96, "\n".join(lines), transform=axes.transAxes, va="top", weight="bold",
              bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}, zorder=6)  # fmt: skip


def _panel(axes: Axes, data: xr.Dataset, colours: dict[int, tuple]) -> None:
    sizes = data["beta"].values.copy()
    sizes[sizes == 0] = _left(data)
    horizons = data["error_horizon"].values[::-1]
    axes.axhline(_THRESHOLD, color="0.45", linewidth=0.8, linestyle=":")
    for width, colour in colours.items():
        for place, horizon in enumerate(horizons):
            one = data["largest_perturbation_error"].sel(width=width, error_horizon=horizon)
            middle = np.median(one.transpose("seed", "beta").values.astype(np.float64), axis=0)
            drawn = np.where(np.isposinf(middle), _HIGHEST**3, middle)
            axes.plot(sizes, drawn, color=colour, linestyle=_DASHES[min(place, len(_DASHES) - 1)],
                      linewidth=1.6 if place == 0 else 0.9)  # fmt: skip


def _marks(axes: Axes, data: xr.Dataset, colours: dict[int, tuple], published: tuple[str, ...]) -> None:
    step = str(data["discretisation"].values) if "discretisation" in data.coords else ""
    for width, colour in colours.items():
        one = data.sel(width=width)
        looks = {
            float(one["median_explosion_beta"].isel(error_horizon=-1)): {**_PASSED, "color": colour},
            float(one["median_loss_explosion_beta"]): {**_LOSS, "markeredgecolor": colour},
        }
        if step in published:
            looks[float(one["published_explosion_beta"])] = {**_PUBLISHED, "color": colour}
        for size, look in looks.items():
            if np.isfinite(size) and size > 0:
                axes.plot(size, _THRESHOLD, **look)


_PASSED = {"marker": "o", "markersize": 4.5, "markeredgecolor": "white", "markeredgewidth": 0.5, "zorder": 4}
_LOSS = {"marker": "o", "markersize": 5.0, "markerfacecolor": "white", "markeredgewidth": 1.3, "zorder": 3}
_PUBLISHED = {"marker": "v", "markersize": 6.5, "markeredgecolor": "black", "markeredgewidth": 0.6, "zorder": 5}


def _published_in(radius: xr.Dataset) -> tuple[str, ...]:
    """Return the discretisations whose panels show the published values: Euler's where there is one."""
    steps = np.atleast_1d(radius["discretisation"].values).tolist() if "discretisation" in radius.coords else [""]
    return ("euler",) if "euler" in steps else tuple(steps)


def _left(data: xr.Dataset) -> float:
    """Return where a size of 0 is drawn: a good part left of the smallest other one."""
    positive = data["beta"].values[data["beta"].values > 0]
    return float(positive.min() / 4) if len(positive) else 1.0


def _scales(axes: Axes, data: xr.Dataset) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    values = data["largest_perturbation_error"].values
    finite = values[np.isfinite(values) & (values > 0)]
    axes.set_ylim(10 ** np.floor(np.log10(finite.min())) if finite.size else 1e-3, _HIGHEST)
    if (data["beta"].values == 0).any() and (data["beta"].values > 0).any():
        first, last = _left(data), float(data["beta"].max())
        powers = 10.0 ** np.arange(np.ceil(np.log10(4 * first) - 1e-9), np.floor(np.log10(last)) + 1)
        axes.set_xticks([first, *powers], ["0", *(f"$10^{{{int(np.log10(one))}}}$" for one in powers)])
        axes.minorticks_off()


def _keys(data: xr.Dataset, radius: xr.Dataset, colours: dict[int, tuple]) -> list[Line2D]:
    name = style.label(data["width"])
    keys = [Line2D([], [], color=colour, linewidth=2.0, label=f"{name} {width}") for width, colour in colours.items()]
    units = data["error_horizon"].attrs["units"]
    for place, horizon in enumerate(data["error_horizon"].values[::-1]):
        look = {"linestyle": _DASHES[min(place, len(_DASHES) - 1)], "linewidth": 1.6 if place == 0 else 0.9}
        keys.append(Line2D([], [], color="0.3", label=f"over {horizon} {units}s", **look))
    keys.append(Line2D([], [], color="0.45", linewidth=0.8, linestyle=":", label="threshold $10^6$"))
    if np.isfinite(radius["median_explosion_beta"]).any():
        keys.append(Line2D([], [], color="0.4", linestyle="none", label="error passes it", **_PASSED))
    if np.isfinite(radius["median_loss_explosion_beta"]).any():
        keys.append(
            Line2D([], [], linestyle="none", label="sampled loss passes it", **{**_LOSS, "markeredgecolor": "0.4"})
        )
    if np.isfinite(radius["published_explosion_beta"]).any():
        keys.append(
            Line2D([], [], color="0.4", linestyle="none", label="published: sampled loss passes it", **_PUBLISHED)
        )
    return keys
