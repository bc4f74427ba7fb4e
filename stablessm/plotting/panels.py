"""Panels: one for each combination of the axes that a figure does not show otherwise, so that nothing is dropped."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Hashable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style

_SELF_EXPLAINING, _AFTER = ("optimizer", "discretisation", "activation", "potential"), ("link", "target")
_UNBROKEN = "\N{NO-BREAK SPACE}"
_INCHES_A_LETTER, _INCHES_A_KEY = 0.075, 0.6
_INCHES_A_SMALL_LETTER = 0.066


class Panel(NamedTuple):
    """One panel.

    Attributes:
        title: the combination of axis values it shows; empty where there is only one.
        data: the dataset there, without those axes.
    """

    title: str
    data: xr.Dataset


def panels(dataset: xr.Dataset, along: Sequence[str]) -> list[Panel]:
    """Return one panel for each combination of the dimensions other than `along`.

    Args:
        dataset: what a figure shows.
        along: dimensions that one panel shows.

    Returns:
        At least one panel; dimensions of one value do not appear in titles (see `circumstances`).
    """
    others = [name for name in dataset.dims if name not in along]
    named = [name for name in others if dataset.sizes[name] > 1]
    found = []
    for places in product(*(range(dataset.sizes[name]) for name in others)):
        chosen = dataset.isel(dict(zip(others, places, strict=True)))
        values = {name: dataset[name].values[place] for name, place in zip(others, places, strict=True)}
        found.append(Panel(", ".join(_said(dataset[name], values[name]) for name in named), chosen))
    return found


def circumstances(dataset: xr.Dataset, along: Sequence[str]) -> str:
    """Return the values of the dimensions other than `along` that have only one, as a line of words."""
    single = [name for name in dataset.dims if name not in along and dataset.sizes[name] == 1]
    return ", ".join(_said(dataset[name], dataset[name].values[0]) for name in single if name in dataset.coords)


def caption(figure: Figure, dataset: xr.Dataset, along: Sequence[str]) -> None:
    """Write the circumstances of a figure in small letters at its top, broken into lines as its width asks for."""
    lines = textwrap.wrap(circumstances(dataset, along), int(figure.get_figwidth() / _INCHES_A_SMALL_LETTER))
    if lines:
        figure.suptitle("\n".join(lines), fontsize=8.0, color="0.35")


def grid(figure: Figure, number: int, *, columns: int, **shared: Any) -> list[Any]:
    """Return axes for `number` panels in rows of at most `columns`; places left over stay empty.

    Args:
        figure: where.
        number: of panels.
        columns: most panels in a row.
        **shared: `sharex` and `sharey` of Matplotlib.
    """
    columns = min(columns, number)
    rows = -(-number // columns)
    axes = figure.subplots(rows, columns, squeeze=False, **shared).ravel()
    for unused in axes[number:]:
        unused.remove()
    return list(axes[:number])


def blocks(figure: Figure, number: int, each: int, *, columns: int, x: str, y: str) -> list[list[Axes]]:
    """Return the panels of `number` blocks one below the other, each of `each` panels in rows of nearly one length.

    All share their axes; what lies at the left edge or has no panel below it is labelled.

    Args:
        figure: where.
        number: of blocks.
        each: panels in a block.
        columns: most panels in a row.
        x: label below.
        y: label at the left.
    """
    deep = -(-each // columns)
    columns = -(-each // deep)
    every = figure.subplots(deep * number, columns, squeeze=False, sharex=True, sharey=True)
    held = [[row % deep * columns + column < each for column in range(columns)] for row in range(deep * number)]
    for (row, column), axes in np.ndenumerate(every):
        if not held[row][column]:
            axes.remove()
        if column == 0:
            axes.set_ylabel(y)
        if row + 1 == len(held) or not held[row + 1][column]:
            axes.set_xlabel(x)
            axes.tick_params(labelbottom=True)
    return [list(every[start : start + deep].ravel()[:each]) for start in range(0, len(every), deep)]


def title(axes: Axes, words: str) -> None:
    """Write the title of a panel, broken into lines as its width asks for; call it when all panels are there."""
    columns = axes.get_subplotspec().get_gridspec().ncols
    letters = int(axes.figure.get_figwidth() / columns / _INCHES_A_LETTER * 0.9)
    axes.set_title("\n".join(textwrap.wrap(words, max(12, letters), break_long_words=False)))


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str] | None = None) -> None:
    """Put one legend below all panels, in as many columns as the width holds."""
    labels = [handle.get_label() for handle in handles] if labels is None else labels

    def width(columns: int) -> float:
        groups = np.array_split([len(one) for one in labels], columns)  # as Matplotlib fills them
        return sum(_INCHES_A_KEY + _INCHES_A_LETTER * int(letters.max()) for letters in groups)

    fitting = [columns for columns in range(len(labels), 0, -1) if width(columns) <= figure.get_figwidth()]
    if labels:
        figure.legend(handles, labels, loc="outside lower center", ncols=fitting[0] if fitting else 1)


def curves_by_map(
    data: xr.Dataset,
    along: Sequence[str],
    curves: Callable[[Axes, xr.Dataset, dict], None],
    *,
    by: str = "parameterization",
) -> Figure:
    """Return a figure with a panel for each combination of the other dimensions, two in a row, and one legend.

    Args:
        data: what it shows, with the dimension `by`.
        along: dimensions that one panel shows.
        curves: draws one panel, given its axes, its data and the look of each map.
        by: what has a look each, where it is not the map.
    """
    found, looks = panels(data, along), style.looks(data[by].values)
    columns = min(2, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(max(5.2, 4.4 * columns), 1.0 + 3.4 * rows), layout="constrained")
    caption(figure, data, along)
    every = grid(figure, len(found), columns=columns, sharex=True, sharey=True)
    for axes, panel in zip(every, found, strict=True):
        curves(axes, panel.data, looks)
        title(axes, panel.title)
        axes.tick_params(labelbottom=True)
    legend(figure, *every[0].get_legend_handles_labels())
    return figure


def _said(coordinate: xr.DataArray, value: Hashable) -> str:
    shown = style.text(f"{value:.4g}" if isinstance(value, float | np.floating) else str(value).replace("_", " "))
    name = style.label(coordinate)
    if coordinate.name in _SELF_EXPLAINING:
        words = shown
    else:
        words = f"{shown} {name}" if coordinate.name in _AFTER else f"{name} {shown}"
    return words.replace(" ", _UNBROKEN)
