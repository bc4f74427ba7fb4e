"""Moving figures: a GIF always, an MP4 where FFmpeg is there; the old file intact until the new one is whole."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stablessm.plotting.style import RC
from stablessm.writing import write_whole

MOVING = ("gif", "mp4")
_DPI = 90


class Animation(NamedTuple):
    """What `animate` of a figure module returns.

    Attributes:
        figure: what moves.
        show: makes it what it is at a frame, counted from 0.
        frames: their number.
        milliseconds: from one to the next.
    """

    figure: Figure
    show: Callable[[int], None]
    frames: int
    milliseconds: int


def encoders() -> tuple[str, ...]:
    """Return the formats of `MOVING` that can be written here."""
    return MOVING if FFMpegWriter.isAvailable() else MOVING[:1]


def save_moving(
    animate: Callable[..., Animation], datasets: Sequence[object], folder: Path, name: str, formats: Sequence[str]
) -> list[Path]:
    """Write an animation in the formats asked for that can be written here; return the paths.

    Args:
        animate: of a figure module.
        datasets: what it reads.
        folder: made if it is not there.
        name: stem of the files.
        formats: those of `MOVING` count.

    Raises:
        DatasetWriteError: the disk refuses; the old file is intact.
    """
    chosen = [kind for kind in formats if kind in encoders()]
    if not chosen:
        return []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        moving = animate(*datasets)
        FigureCanvasAgg(moving.figure)
        moving.show(0)
        moving.figure.draw_without_rendering()
        moving.figure.set_layout_engine("none")  # or the panels would move, too
        written = []
        for kind in chosen:
            content = _gif(moving) if kind == "gif" else _mp4(moving)
            path = folder / f"{name}.{kind}"
            write_whole(path, content)
            written.append(path)
    return written


def _gif(moving: Animation) -> bytes:
    """All frames under the colours of the last, so that nothing flickers and the file is small."""
    from PIL import Image

    moving.figure.set_dpi(_DPI)
    frames = []
    for number in range(moving.frames):
        moving.show(number)
        moving.figure.canvas.draw()
        size = moving.figure.canvas.get_width_height()
        frames.append(Image.frombytes("RGBA", size, bytes(moving.figure.canvas.buffer_rgba())).convert("RGB"))
    palette = frames[-1].quantize(64)
    frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
    buffer = io.BytesIO()
    frames[0].save(
        buffer, "GIF", save_all=True, append_images=frames[1:], duration=moving.milliseconds, loop=0, optimize=False
    )
    return buffer.getvalue()


def _mp4(moving: Animation) -> bytes:
    writer = FFMpegWriter(fps=1000 / moving.milliseconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moving.mp4"
        with writer.saving(moving.figure, str(path), _DPI):
            for number in range(moving.frames):
                moving.show(number)
                writer.grab_frame()
        return path.read_bytes()
