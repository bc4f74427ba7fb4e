"""The figure of the benchmarks: ratios to the peer, and growth with the number of steps."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from stablessm.bench.dataset import Row, rows_in

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")


def draw(data: xr.Dataset) -> Figure:
    """Draw one bar for each candidate (CPU time of the peer over its own, logarithmic) and CPU time over length.

    Args:
        data: what `stablessm bench` stored.
    """
    rows = [row for row in rows_in(data) if row.cpu_ratio > 0]  # what was not run has memory alone, in the table
    cases = list(dict.fromkeys((row.benchmark, row.case, row.length) for row in rows))
    growth = _growth(rows)
    height = 1.2 + 0.19 * len(rows) + 0.25 * len(cases)
    figure = Figure(figsize=(10.0, height), layout="constrained")
    bars, lines = figure.subplots(1, 2, width_ratios=(3, 2))
    place, labels = 0.0, []
    for benchmark, case, length in cases:
        own = [row for row in rows if (row.benchmark, row.case, row.length) == (benchmark, case, length)]
        for number, row in enumerate(own):
            color = (
                "0.7" if number == 0 else _COLORS[0] if row.candidate.startswith(("engine", "stablessm")) else "0.45"
            )
            bars.barh(place, row.cpu_ratio, color=color)
            title = f"{benchmark}, {case}" + (f", {length} steps" if length else "") if number == 0 else ""
            labels.append((place, f"{title}   {row.candidate}" if title else row.candidate))
            place += 1
        place += 0.6
    bars.set_yticks([one for one, _ in labels], [text for _, text in labels], fontsize=6)
    bars.invert_yaxis()
    bars.set_xscale("log")
    bars.axvline(1, color="0.3", linewidth=0.8)
    bars.set_xlabel("CPU time of the peer (grey) over that of the candidate")
    for number, (label, points) in enumerate(growth.items()):
        lengths, seconds = np.array(sorted(points)).T
        lines.loglog(lengths, seconds, marker="o", color=_COLORS[number % len(_COLORS)], label=label)
    lines.set_xlabel("time steps")
    lines.set_ylabel("CPU time for a unit of work [s]")
    if growth:
        lines.legend(fontsize=6)
    return figure


def _growth(rows: list[Row]) -> dict[str, list[tuple[int, float]]]:
    """CPU time at each length, for what was measured at several."""
    points: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row.case == "forward" and row.benchmark in ("siso", "dplr"):
            points.setdefault(f"{row.benchmark}: {row.candidate}", []).append((row.length, row.cpu))
    return {label: one for label, one in points.items() if len({length for length, _ in one}) > 1}
