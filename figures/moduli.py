"""The modulus g(beta) of Definition 3.2 for each map: how far its decays move when its weights move by beta."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import curves_by_map

READS = ("raw",)
NEEDS = ("parameterization", "beta", "modulus", "modulus_kind")
_ALONG = ("parameterization", "beta")
_VIEW = (3e-3, 1e3)
_WORDS = {"none": "no g exists", "bound": "an upper bound", "open": "no closed form"}


def draw(raw: xr.Dataset) -> Figure:
    """Draw g of every map, a panel for each link; which maps have none, or only a bound, is said in words.

    Args:
        raw: dataset of the measurement `certificates`.
    """
    return curves_by_map(raw[["modulus", "modulus_kind"]], _ALONG, _curves)


def _curves(axes: Axes, data: xr.Dataset, looks: dict) -> None:
    kinds = str(data["modulus_kind"].attrs["flag_meanings"]).split()
    said: dict[str, list[str]] = {}
    for label, look in looks.items():
        one = data.sel(parameterization=label)
        curve = one["modulus"].where(np.isfinite(one["modulus"]))
        axes.plot(data["beta"], curve, label=style.text(label), **style.line(look))
        words = _WORDS.get(kinds[int(one["modulus_kind"])])
        if words:
            said.setdefault(words, []).append(style.text(label))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(float(data["beta"][0]), float(data["beta"][-1]))
    axes.set_ylim(*_VIEW)
    notes = "\n".join(f"{words}: {', '.join(labels)}" for words, labels in said.items())
    axes.text(0.97, 0.03, notes, transform=axes.transAxes, ha="right", fontsize=8.0, color="0.35", wrap=True)
    style.label_axes(axes, data["beta"], data["modulus"])
