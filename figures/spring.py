"""A mass on a spring: force, position and the mass itself, still and moving."""

from __future__ import annotations

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from stablessm.plotting import style
from stablessm.plotting.animation import Animation
from stablessm.plotting.panels import legend

READS = ("raw",)
NEEDS = ("time", "force", "position", "convolved_position")
_FORCE, _POSITION = "#D55E00", "#0072B2"
_EVERY = 2  # steps between two pictures of the animation
_MILLISECONDS = 40
_HALF = 0.04  # of the height of the mass, in the published picture
_STILLS = 5


def draw(raw: xr.Dataset) -> Figure:
    """Draw all times, and the mass at a few of them side by side.

    Args:
        raw: dataset of the measurement `spring`.
    """
    data = _first(raw)
    figure, (force, position, mass) = _panels(data)
    time = data["time"].values
    force.plot(time, data["force"], color=_FORCE, label="force")
    position.plot(time, data["position"], color=_POSITION, label="position, step by step")
    position.plot(time[::4], data["convolved_position"][::4], linestyle="none", marker=".", color="black", markersize=4,
                  label="position, by convolution")  # fmt: skip
    places = [round(one * (len(time) - 1) / (_STILLS - 1)) for one in range(_STILLS)]
    for number, place in enumerate(places):
        _box(mass, data, place, centre=(number + 0.5) / _STILLS - 0.5, width=0.7 / _STILLS)
    mass.set_xticks(
        [(number + 0.5) / _STILLS - 0.5 for number in range(_STILLS)], [f"{time[one]:.2g}" for one in places]
    )
    mass.set_xlabel(force.get_xlabel())
    handles = [*force.get_legend_handles_labels()[0], *position.get_legend_handles_labels()[0]]
    legend(figure, handles)
    return figure


def animate(raw: xr.Dataset) -> Animation:
    """Return the animation: every second step, the curves up to it and the mass there.

    Args:
        raw: dataset of the measurement `spring`.
    """
    data = _first(raw)
    figure, (force, position, mass) = _panels(data)
    time = data["time"].values
    curves = [(force.plot([], [], color=_FORCE)[0], data["force"].values),
              (position.plot([], [], color=_POSITION)[0], data["position"].values)]  # fmt: skip
    box, line = _box(mass, data, 0)

    def show(frame: int) -> None:
        place = frame * _EVERY
        for curve, values in curves:
            curve.set_data(time[: place + 1], values[: place + 1])
        now = float(data["position"][place])
        box.set_y(now - _height(data))
        line.set_data([0, 0], [now, _top(data)])

    return Animation(figure, show, (len(time) + _EVERY - 1) // _EVERY, _MILLISECONDS)


def _first(raw: xr.Dataset) -> xr.Dataset:
    return raw[list(NEEDS[1:])].isel({name: 0 for name in raw.dims if name not in ("time",)}, missing_dims="ignore")


def _panels(data: xr.Dataset) -> tuple[Figure, tuple]:
    figure = Figure(figsize=(8.4, 2.9), layout="constrained")
    every = figure.subplots(1, 3, width_ratios=(1, 1, 0.8))
    for axes, name, title in zip(
        every, ("force", "position", "position"), ("force", "position", "object"), strict=True
    ):
        axes.set_ylabel(style.label(data[name]))
        axes.set_title(title)
        low, high = float(data[name].min()), float(data[name].max())
        room = 0.08 * (high - low or 1.0)
        axes.set_ylim(low - room, high + room)
    for axes in every[:2]:
        time = data["time"].values
        axes.set_xlim(time[0], time[-1])
        axes.set_xlabel(f"{style.label(data['time'])} [s]")
    every[2].set_xlim(-0.5, 0.5)
    every[2].set_xticks([])
    every[2].set_ylim(float(data["position"].min()) - 1.6 * _height(data), _top(data))
    return figure, tuple(every)


def _height(data: xr.Dataset) -> float:
    """Half the height of the mass: the published one, or less where nothing would be seen to move."""
    extent = float(data["position"].max() - data["position"].min())
    return min(_HALF, 5 * extent) or _HALF


def _top(data: xr.Dataset) -> float:
    return float(data["position"].max()) + 2.4 * _height(data)


def _box(axes: Axes, data: xr.Dataset, place: int, *, centre: float = 0.0, width: float = 0.5) -> tuple:
    now, half = float(data["position"][place]), _height(data)
    (line,) = axes.plot([centre, centre], [now, _top(data)], color="0.5", linestyle=(0, (1, 1)), linewidth=2)
    box = Rectangle((centre - width / 2, now - half), width, 2 * half, facecolor=_POSITION, edgecolor="black", zorder=3)
    axes.add_patch(box)
    return box, line
