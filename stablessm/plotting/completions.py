"""What was drawn beside what is true: pictures in pairs, waveforms one above the other, the given part in colour."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from stablessm.plotting import style
from stablessm.plotting.panels import legend

_GIVEN, _SAMPLED, _TRUE = "#D55E00", "#0072B2", "0.25"
_GIVEN_TINT = np.array([1.0, 0.72, 0.45])
_PAIRS = 4  # of pictures in a row
_MOST = 32  # rows that are drawn


def draw(samples: xr.Dataset) -> Figure:
    """Draw the rows of a dataset that `stablessm sample` wrote.

    Args:
        samples: with the attributes `kind` ("image" or "sound"), `shape`, `prefix` and `tokens`.
    """
    samples = samples.isel(row=slice(0, _MOST))
    return _pictures(samples) if samples.attrs["kind"] == "image" else _waveforms(samples)


def _pictures(samples: xr.Dataset) -> Figure:
    rows, shape = samples.sizes["row"], tuple(samples.attrs["shape"])
    columns = min(_PAIRS, rows)
    figure = Figure(figsize=(0.4 + 2.3 * columns, 0.6 + 1.2 * -(-rows // columns)), layout="constrained")
    every = figure.subplots(-(-rows // columns), 2 * columns, squeeze=False)
    for axes in every.ravel():
        axes.set_axis_off()
    for row in range(rows):
        for side, name in enumerate(("sampled", "true")):
            axes = every[row // columns, 2 * (row % columns) + side]
            given = int(samples.attrs["prefix"]) if name == "sampled" else 0
            values = samples[name].values[row]
            axes.imshow(_picture(values, shape, given, samples.attrs["tokens"]), interpolation="nearest")
            if row < columns:
                axes.set_title(name)
    if int(samples.attrs["prefix"]):
        legend(figure, [Patch(color=_GIVEN_TINT, label=f"given: the first {samples.attrs['prefix']} values")])
    return figure


def _picture(values: np.ndarray, shape: tuple[int, ...], given: int, tokens: int) -> np.ndarray:
    """Return the pixels in red, green and blue; what was given is tinted, what was not drawn is dark."""
    rows, columns, channels = (*shape, 1)[:3]
    full = np.zeros(rows * columns * channels)
    full[: len(values)] = values[: len(full)] / (tokens - 1)
    pixels = np.repeat(full.reshape(rows, columns, channels), 3 // channels, axis=2)
    known = (np.arange(rows * columns) < given // channels).reshape(rows, columns, 1)
    return np.where(known, 0.12 + 0.88 * pixels, pixels) * np.where(known, _GIVEN_TINT, 1.0)


def _waveforms(samples: xr.Dataset) -> Figure:
    rows, given = samples.sizes["row"], int(samples.attrs["prefix"])
    heard = "sampled_spectrum" in samples
    figure = Figure(figsize=(8.4, 0.9 + 1.5 * rows + 2.6 * heard), layout="constrained")
    time, heights = samples["time"].values, [1.0] * rows + [1.7] * heard
    every = figure.subplots(rows + heard, 1, squeeze=False, height_ratios=heights)[:, 0]
    for row, axes in enumerate(every[:rows]):
        sampled = _sound(samples["sampled"].values[row], samples.attrs["tokens"])
        end = int(samples["length"].values[row])
        true = _sound(samples["true"].values[row, :end], samples.attrs["tokens"])
        size = max(np.abs(sampled).max(initial=0), np.abs(true).max(initial=0)) or 1.0
        axes.plot(time, 1 + sampled / size, color=_SAMPLED, linewidth=0.6)
        axes.plot(time[:given], 1 + sampled[:given] / size, color=_GIVEN, linewidth=0.6)
        axes.plot(time[:end], -1 + true / size, color=_TRUE, linewidth=0.6)
        axes.set_yticks([1, -1], ["sampled", "true"])
        axes.set_ylim(-2.1, 2.1)
        axes.set_xlim(time[0], time[-1] + 1)
        axes.set_title(f"row {samples['row'].values[row]}")
        axes.tick_params(labelbottom=row == rows - 1)
    axes.set_xlabel("step")
    if heard:
        _spectra(every[-1], samples)
    legend(figure, [
        Line2D([], [], color=_GIVEN, label=f"given: the first {given} values"),
        Line2D([], [], color=_SAMPLED, label="sampled"),
        Line2D([], [], color=_TRUE, label="true"),
    ])  # fmt: skip
    return figure


def _spectra(axes: Axes, samples: xr.Dataset) -> None:
    """Both average spectra behind the given part, each over its own mean power."""
    for name, color in (("sampled", _SAMPLED), ("true", _TRUE)):
        power = samples[f"{name}_spectrum"].values
        shown = 10 * np.log10(np.maximum(power / (power.mean() or 1.0), 1e-9))
        axes.plot(samples["frequency"], shown, color=color, linewidth=1.2)
    apart, noise = (float(samples[f"spectral_distance_of_{name}"]) for name in ("sampled", "noise"))
    axes.set_title(f"average spectra, {apart:.1f} dB apart (white noise: {noise:.1f} dB)")
    axes.set_xlabel(style.label(samples["frequency"]))
    axes.set_ylabel("power over its mean [dB]")


def _sound(levels: np.ndarray, tokens: int) -> np.ndarray:
    """Levels of mu-law as what they stand for."""
    squeezed = 2 * np.asarray(levels, float) / (tokens - 1) - 1
    return np.sign(squeezed) * np.expm1(np.abs(squeezed) * np.log(tokens)) / (tokens - 1)
