"""Figures to files: vector and raster, the same bytes every time, the old file intact until the new one is whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stablessm.plotting.style import RC

FORMATS = ("pdf", "svg", "png")
_UNDATED = {
    "pdf": {"CreationDate": None, "Creator": "stablessm", "Producer": None},
    "svg": {"Date": None, "Creator": "stablessm"},
    "png": {"Software": None},
}


def drawn(draw: Callable[..., Figure], *datasets: object) -> Figure:
    """Return a figure drawn in the house style.

    Args:
        draw: the `draw` of a figure module.
        *datasets: what it reads.
    """
    with matplotlib.rc_context(RC):
        figure = draw(*datasets)
        FigureCanvasAgg(figure)
        return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PDF, SVG and PNG; return the paths.

    Args:
        figure: what is drawn.
        folder: made if it is not there.
        name: stem of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with matplotlib.rc_context(RC):
        for kind in FORMATS:
            path = folder / f"{name}.{kind}"
            temporary = folder / f".{name}.{kind}.partial"
            figure.savefig(temporary, format=kind, dpi=160, metadata=_UNDATED[kind])
            os.replace(temporary, path)
            paths.append(path)
    return paths
