"""The figure of the benchmarks: ratios to the peer, and growth with the numbers of steps and modes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.bench.dataset import Row, rows_in

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")


def draw(data: xr.Dataset) -> Figure:
    """Draw one bar for each candidate (CPU time of the peer over its own), and growth with steps and modes.

    Args:
        data: what `stablessm bench` stored.
    """
    rows = rows_in(data)
    timed = [row for row in rows if row.cpu_ratio > 0]  # what was not run has memory alone
    growth = {
        ("time steps", "CPU time for a unit of work [s]"): _growth(
            (f"{row.benchmark}: {row.candidate}", row.length, row.cpu)
            for row in timed if row.case == "forward" and row.benchmark in ("siso", "dplr")
        ),
        ("modes", "temporary memory of a gradient [B]"): _growth(
            (row.candidate, row.states, row.temporary_bytes) for row in rows if row.case.startswith("memory")
        ),
    }  # fmt: skip
    growth = {labels: lines for labels, lines in growth.items() if lines}
    cases = list(dict.fromkeys((row.benchmark, row.case, row.length) for row in timed))
    height = max(1.2 + 0.17 * len(timed) + 0.34 * len(cases), 5.0 * len(growth))
    figure = Figure(figsize=(10.0, height), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))  # a panel of growth is half as high, even alone
    _bars(figure.add_subplot(grid[:, 0] if growth else grid[:, :]), timed, cases)
    for place, ((across, up), lines) in enumerate(growth.items()):
        axes = figure.add_subplot(grid[place, 1])
        for number, (label, points) in enumerate(lines.items()):
            x, y = np.array(sorted(points)).T
            style = {"linestyle": "-" if number < len(_COLORS) else "--", "marker": "o", "markersize": 4}
            axes.loglog(x, y, color=_COLORS[number % len(_COLORS)], label=label, **style)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return figure


def _bars(axes: Axes, rows: list[Row], cases: list[tuple[str, str, int]]) -> None:
    place, labels = 0.0, []
    for benchmark, case, length in cases:
        title = f"{benchmark}, {case}" + (f", {length} steps" if length else "")
        where = {"transform": axes.get_yaxis_transform(), "va": "center"}
        axes.text(0.01, place, title, fontsize=6, fontweight="bold", **where)
        place += 1
        own = [row for row in rows if (row.benchmark, row.case, row.length) == (benchmark, case, length)]
        for number, row in enumerate(own):
            ours = row.candidate.startswith(("engine", "stablessm", "closed form", "Gram form"))
            axes.barh(place, row.cpu_ratio, color="0.75" if number == 0 else _COLORS[0] if ours else "0.45")
            labels.append((place, row.candidate))
            place += 1
        place += 0.6
    axes.set_yticks([one for one, _ in labels], [text for _, text in labels], fontsize=6)
    axes.set_ylim(place - 0.5, -1.0)
    axes.set_xscale("log")
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("CPU time of the peer (light grey) over that of the candidate")


def _growth(points: Iterable[tuple[str, int, float]]) -> dict[str, list[tuple[int, float]]]:
    """Lines by label, of what was measured at several sizes."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for label, size, value in points:
        lines.setdefault(label, []).append((size, value))
    return {label: one for label, one in lines.items() if len({size for size, _ in one}) > 1}
