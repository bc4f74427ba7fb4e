"""Figures to files: vector and raster, the same bytes every time, the old file intact until the new one is whole."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stablessm.plotting.presets import SERIF, Preset, fit
from stablessm.plotting.style import RC
from stablessm.writing import write_whole

FORMATS = ("pdf", "svg", "png")
_UNDATED = {
    "pdf": {"CreationDate": None, "Creator": "stablessm", "Producer": None},
    "svg": {"Date": None, "Creator": "stablessm"},
    "png": {"Software": None},
}


def drawn(draw: Callable[..., Figure], *datasets: object, preset: Preset | None = None) -> Figure:
    """Return a figure drawn in the house style, whatever style the process is in.

    Args:
        draw: the `draw` of a figure module.
        *datasets: what it reads.
        preset: size and letters of a paper; those of the screen by default.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC if preset is None else RC | SERIF)
        figure = draw(*datasets)
        FigureCanvasAgg(figure)
        if preset is not None:
            fit(figure, preset)
        for _ in range(2):  # the second pass knows the sizes that labels have after the first
            figure.draw_without_rendering()
        figure.set_layout_engine("none")  # solved again for each file, it would depend on the files before
        return figure


def rendered(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of a file.

    Args:
        figure: what `drawn` returned.
        kind: one of `FORMATS`.
    """
    buffer = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        figure.savefig(buffer, format=kind, dpi=160, metadata=_UNDATED[kind])
    return buffer.getvalue()


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure in each format; return the paths.

    Args:
        figure: what `drawn` returned.
        folder: made if it is not there.
        name: stem of the files.
        formats: some of `FORMATS`.

    Raises:
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    paths = [folder / f"{name}.{kind}" for kind in formats]
    for path, kind in zip(paths, formats, strict=True):
        write_whole(path, rendered(figure, kind))
    return paths


def write_text(path: Path, content: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    write_whole(path, content.encode())
