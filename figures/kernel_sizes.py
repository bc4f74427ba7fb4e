"""A DLR's kernel and its gradients against the lag, before and after a training."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from stablessm.plotting import style
from stablessm.plotting.panels import caption, legend, panels, title

READS = ("raw",)
NEEDS = ("kernel", "kernel_by_pole", "kernel_by_readout", "moment", "lag", "seed")
_ALONG = ("moment", "lag", "seed")
_SHOWN = ("kernel", "kernel_by_pole", "kernel_by_readout")
_LOOKS = (("0.55", "--"), ("#0072B2", "-"))


def draw(raw: xr.Dataset) -> Figure:
    """Draw three panels for what else was swept: each seed a line, thin before the training, thick after it.

    Args:
        raw: dataset of the measurement `kernel_sizes`.
    """
    data = raw[list(_SHOWN)]
    found = panels(data, _ALONG)
    figure = Figure(figsize=(9.2, 1.0 + 2.7 * len(found)), layout="constrained")
    caption(figure, data, _ALONG)
    for row, panel in zip(figure.subplots(len(found), 3, squeeze=False), found, strict=True):
        for axes, name in zip(row, _SHOWN, strict=True):
            for place, (colour, dashes) in enumerate(_LOOKS):
                one = panel.data[name].isel(moment=place).transpose("seed", "lag")
                for number, values in enumerate(one.values):
                    axes.plot(data["lag"], values, color=colour, linestyle=dashes, linewidth=0.8 + 0.4 * place,
                              label=_words(data, place) if number == 0 else None)  # fmt: skip
            axes.set_yscale("log")
            axes.set_xlabel(style.label(data["lag"]))
            title(axes, str(data[name].attrs["long_name"]).split(",")[0])
        row[0].set_ylabel(style.text(panel.title) if panel.title else "size")
    legend(figure, *figure.axes[0].get_legend_handles_labels())
    return figure


def _words(data: xr.Dataset, place: int) -> str:
    return f"after {int(data['moment'][place])} steps"
