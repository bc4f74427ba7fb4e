"""Sizes of figures for papers: the width of a column or of the page, and letters like those of the text around them.

A figure is drawn as always and then made smaller as a whole, letters, lines and marks alike, so that what fitted fits.
Of the widths of a preset it takes the least at which its letters are still read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

LEAST_LETTER = 5.0  # points: what is set smaller is not read in print


class Preset(NamedTuple):
    """Where figures go.

    Attributes:
        widths: of one column, and of all the page where there are two, in inches.
        summary: one line.
    """

    widths: tuple[float, ...]
    summary: str


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "icml": Preset((3.25, 6.75), "two columns of 3.25 in, 6.75 in together"),
        "neurips": Preset((5.5,), "one column of 5.5 in"),
        "iclr": Preset((5.5,), "one column of 5.5 in"),
        "jmlr": Preset((6.0,), "one column of 6 in"),
        "ieee": Preset((3.5, 7.16), "two columns of 3.5 in, 7.16 in together"),
    }
)

# Times-like letters and mathematics, as the text of these papers has; embedded as TrueType, so that they stay text.
SERIF = {"font.family": "STIXGeneral", "mathtext.fontset": "stix"}


class Fitted(NamedTuple):
    """What became of a figure.

    Attributes:
        width: in inches.
        letters: size of its smallest letters, in points.
    """

    width: float
    letters: float


def fit(figure: Figure, preset: Preset) -> Fitted:
    """Make a figure as wide as a preset says, in place; a figure that is narrower stays as it is.

    Args:
        figure: before its layout is solved.
        preset: of `PRESETS`.

    Returns:
        The width taken, and the size of the smallest letters: below `LEAST_LETTER` where even the widest is too narrow.
    """
    before = figure.get_figwidth()
    smallest = min((text.get_fontsize() for text in figure.findobj(Text) if text.get_text()), default=LEAST_LETTER)
    wide_enough = [width for width in preset.widths if smallest * min(1.0, width / before) >= LEAST_LETTER]
    factor = min(1.0, (wide_enough or preset.widths[-1:])[0] / before)
    _scale(figure, factor)
    return Fitted(before * factor, smallest * factor)


def _scale(figure: Figure, factor: float) -> None:
    figure.set_size_inches(*(figure.get_size_inches() * factor))
    done: set[int] = set()
    for one in figure.findobj():
        if id(one) in done:
            continue
        done.add(id(one))
        if isinstance(one, Text):
            one.set_fontsize(one.get_fontsize() * factor)
        elif isinstance(one, Line2D):
            one.set(linewidth=one.get_linewidth() * factor, markersize=one.get_markersize() * factor)
            one.set_markeredgewidth(one.get_markeredgewidth() * factor)
        elif isinstance(one, Patch):
            one.set_linewidth(one.get_linewidth() * factor)
        elif isinstance(one, Collection):
            one.set_linewidth([width * factor for width in one.get_linewidth()])
            if hasattr(one, "set_sizes"):
                one.set_sizes(one.get_sizes() * factor**2)
        elif isinstance(one, Axes):
            for axis in (one.xaxis, one.yaxis):
                for which in ("major", "minor"):
                    axis.set_tick_params(which=which, **_ticks(axis, which, factor))
                axis.labelpad *= factor
    engine = figure.get_layout_engine()
    if engine is not None and {"w_pad", "h_pad"} <= set(engine.get()):
        engine.set(w_pad=engine.get()["w_pad"] * factor, h_pad=engine.get()["h_pad"] * factor)


def _ticks(axis: Axis, which: Literal["major", "minor"], factor: float) -> dict[str, float]:
    """Length, width, distance and letters of ticks: those an axis was given, or those of the style."""
    usual = {
        "length": rcParams[f"{axis.axis_name}tick.{which}.size"],
        "width": rcParams[f"{axis.axis_name}tick.{which}.width"],
        "pad": rcParams[f"{axis.axis_name}tick.{which}.pad"],
        "labelsize": rcParams["font.size"],
    }
    given = axis.get_tick_params(which=which)
    return {name: given.get(name, value) * factor for name, value in usual.items()}
