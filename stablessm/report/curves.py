"""Datasets as what a page can draw curves of: each variable over its dimensions, seeds reduced, long axes thinned.

Nothing here knows an experiment. A dimension of one value becomes a note, one of replicates (seeds) a median with the
least and the greatest value, and the rest is left to the reader, who chooses what is drawn along x, what tells the
curves apart, and at which value of every other dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stablessm.plotting.style import OUTCOME_COLOURS, looks
from stablessm.tabular import meanings

if TYPE_CHECKING:
    import xarray as xr

REPLICATES = ("seed", "repeat", "resample")
TRACES = ("parameterization", "fit", "candidate", "predictor", "ablation", "task", "model", "layer", "quantile")
"""Dimensions that tell curves apart, the first that a variable has."""
_ALONG = ("step", "time", "beta", "weight", "decay", "memory_length", "lag", "length", "learning_rate", "width")
"""Dimensions that are drawn along x, the first that a variable has; any other of numbers comes behind them."""
_MOST_ALONG = (100, 40, 20, 10)
"""Values of an axis that are kept: the first for which a variable is short enough."""
_MOST_NUMBERS = 6000
_BUDGET = 24000
_LEAST_CURVE = 3
_MOST_CURVES = 14
_SPREADS = (("smallest", "greatest"), ("low", "high"), ("lower", "upper"))
_HIDDEN = ("status",)
_COUNTED = ("seeds", "first_bad", "survivors", "initial_", "stable_share_error")
"""What is drawn last: how much there is of a thing, and where it began."""
_WIDE = 50.0
_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
_SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross", "X": "x",
    "<": "triangle-left", ">": "triangle-right", "h": "hexagon", "p": "pentagon", "d": "diamond-tall", "*": "star",
}  # fmt: skip


def cube(dataset: xr.Dataset, label: str) -> dict[str, Any] | None:
    """Return a dataset as plain data for a page, None where it has nothing that makes a curve.

    Args:
        dataset: an analysis or a raw dataset.
        label: what it is called on the page.

    Returns:
        `label`; `dims`, by name: `label`, `values`, `numeric`, `log`; `variables`: `name`, `label`, `dims`, `values`
        (flat, row-major, None where not finite), `low` and `high` where it has a spread, `flags` where it is a code,
        `log`, `x`, `traces`; `fixed`, a note on dimensions of one value; `looks` of the maps.
    """
    names = [str(name) for name, one in dataset.data_vars.items() if _is_drawn(str(name), one)]
    spread = spreads(names)
    used = {one for pair in spread.values() for one in pair}
    variables, left = [], _BUDGET
    for name in names:
        if name in used:
            continue
        found = _variable(dataset, name, spread.get(name))
        cost = 0 if found is None else len(found["values"]) * (3 if "low" in found else 1)
        if found is None or not 0 < cost <= left or len(found["values"]) > _MOST_NUMBERS:
            continue
        left -= cost
        variables.append(found)
    if not variables:
        return None
    dims = {}
    for one in variables:
        places = one.pop("places")
        # The same axis thinned otherwise is another axis.
        own = {name: name if len(at) == dataset.sizes[name] else f"{name}:{len(at)}" for name, at in places.items()}
        dims |= {own[name]: _dimension(dataset, name, at) for name, at in places.items()}
        one["dims"] = [own[name] for name in one["dims"]]
        one["x"], one["traces"] = _along(one["dims"], dims), _apart(one["dims"], dims)
        if one["x"] == one["traces"]:
            one["traces"] = next((d for d in one["dims"] if d != one["x"]), None)
    maps = dims.get("parameterization", {}).get("values", [])
    return {
        "label": label,
        "dims": dims,
        "variables": sorted(variables, key=lambda one: _rank(one, dims)),
        "fixed": _fixed(dataset),
        "looks": {str(one): _look(look) for one, look in looks(maps).items()},
        "outcomes": OUTCOME_COLOURS,
    }


def numbers(values: Iterable[float]) -> list[float | int | None]:
    """Return numbers with four significant digits, None for those that are not finite."""
    return [_short(one) for one in np.asarray(values, float).ravel().tolist()]


def _short(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short


def _is_drawn(name: str, variable: xr.DataArray) -> bool:
    if name in _HIDDEN or variable.dtype.kind not in "fiu" or variable.dtype == np.uint64:
        return False
    return "row" not in variable.dims and any(n > 1 for dim, n in variable.sizes.items() if dim not in REPLICATES)


def spreads(names: list[str]) -> dict[str, tuple[str, str]]:
    """Return variable -> (lower, upper) of its spread, by the names that analyses give them.

    Args:
        names: of the variables that there are.
    """
    found = {}
    for name in names:
        stem = name.partition("_")[2] if name.startswith(("median_", "mean_")) else name
        for low, high in _SPREADS:
            if f"{low}_{stem}" in names and f"{high}_{stem}" in names:
                found[name] = (f"{low}_{stem}", f"{high}_{stem}")
    return found


def _variable(dataset: xr.Dataset, name: str, pair: tuple[str, str] | None) -> dict[str, Any] | None:
    one = dataset[name]
    replicates = [dim for dim in REPLICATES if one.sizes.get(dim, 1) > 1]
    flags = "flag_meanings" in one.attrs
    if flags and replicates:
        return None
    kept = [str(dim) for dim in one.dims if one.sizes[dim] > 1 and dim not in replicates]
    parts = {"values": one} | (
        {} if pair is None else dict(zip(("low", "high"), (dataset[p] for p in pair), strict=True))
    )
    if replicates:
        parts = {
            "values": _over(one, replicates, 0.5),
            "low": _over(one, replicates, 0),
            "high": _over(one, replicates, 1),
        }
    if pair is not None and any(set(part.dims) != set(one.dims) for part in parts.values()):
        parts = {"values": one}
    thin = _thinned_to_fit({dim: one.sizes[dim] for dim in kept}, [dim for dim in kept if _is_numeric(dataset, dim)])
    label, units = str(one.attrs.get("long_name", name)), one.attrs.get("units", "1")
    plain = {key: part.isel(thin).transpose(..., *kept).values.reshape(-1) for key, part in parts.items()}
    values = np.asarray(plain["values"], float)
    if not np.isfinite(values).any():
        return None
    return {
        "name": name,
        "label": (label if units == "1" else f"{label} [{units}]") + (", median over seeds" if replicates else ""),
        "dims": kept,
        "places": {dim: thin.get(dim, np.arange(one.sizes[dim])) for dim in kept},
        **{key: numbers(part) for key, part in plain.items()},
        "log": False if flags else _is_log(values, 2 * _WIDE),
        **({"flags": {str(code): word for code, word in meanings(one).items()}} if flags else {}),
    }


def _over(one: xr.DataArray, dims: list[str], quantile: float) -> xr.DataArray:
    """Return a quantile over dimensions of what is finite, missing where nothing is."""
    finite = one.astype(float).where(np.isfinite(one))
    if quantile == 0.5:
        return finite.median(dims, skipna=True)
    return (finite.max if quantile else finite.min)(dims, skipna=True)


def _thinned_to_fit(sizes: Mapping[str, int], numeric: list[str]) -> dict[str, np.ndarray]:
    """Return the places that are kept along each dimension of numbers, few enough of them to be carried."""
    for most in _MOST_ALONG:
        thin = {dim: _thinned(sizes[dim], most) for dim in numeric}
        if np.prod([len(thin[dim]) if dim in thin else size for dim, size in sizes.items()]) <= _MOST_NUMBERS:
            break
    return thin


def _thinned(size: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _is_numeric(dataset: xr.Dataset, dim: str) -> bool:
    return dim not in dataset.coords or dataset[dim].dtype.kind in "fiu"


def _dimension(dataset: xr.Dataset, name: str, places: np.ndarray) -> dict[str, Any]:
    values = dataset[name].values if name in dataset.coords else np.arange(dataset.sizes[name])
    attrs = dataset[name].attrs if name in dataset.coords else {}
    label, units = str(attrs.get("long_name", name)), attrs.get("units", "1")
    label = label if units == "1" else f"{label} [{units}]"
    if values.dtype.kind not in "fiu":
        return {"label": label, "values": [str(one) for one in values.tolist()], "numeric": False, "log": False}
    values = values[places]
    return {
        "label": label,
        "values": numbers(values),
        "numeric": True,
        "log": _is_log(values.astype(float), _WIDE) and not _is_even(values),
    }


def _is_log(values: np.ndarray, wide: float) -> bool:
    """Whether numbers ask for a logarithmic axis: nearly all positive, over more than two decades or so."""
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    if len(positive) <= 0.8 * len(finite) or len(positive) < len(finite[finite != 0]):
        return False
    return bool(positive.max() > wide * positive.min())


def _is_even(values: np.ndarray) -> bool:
    """Whether numbers are spread over an axis as they are: half of them in its upper part."""
    return bool(np.median(values) > 0.3 * np.max(values))


def _along(names: list[str], dims: Mapping[str, Mapping[str, Any]]) -> str:
    numeric = [name for name in names if dims[name]["numeric"] and len(dims[name]["values"]) >= _LEAST_CURVE]
    curves = [name for name in numeric if _base(name) not in TRACES]
    preferred = [one for key in _ALONG for one in curves if _base(one) == key or _base(one).endswith(f"_{key}")]
    others = [name for name in names if _base(name) not in TRACES]
    return next(iter([*preferred, *curves, *numeric, *others, *names]))


def _apart(names: list[str], dims: Mapping[str, Mapping[str, Any]]) -> str | None:
    words = [name for name in names if not dims[name]["numeric"]]
    ordered = [*(one for one in TRACES if one in names), *words, *names]
    return next((one for one in ordered if len(dims[one]["values"]) <= _MOST_CURVES), None)


def _rank(one: Mapping[str, Any], dims: Mapping[str, Mapping[str, Any]]) -> tuple[bool, bool, bool]:
    """Sort what is looked at first to the front: curves of maps, of numbers, by name a summary."""
    curve = dims[one["x"]]["numeric"]
    counted = "flags" in one or one["name"].startswith(_COUNTED)
    return not curve, one["traces"] != "parameterization", counted


def _base(name: str) -> str:
    return name.partition(":")[0]


def _fixed(dataset: xr.Dataset) -> str:
    single = [name for name, size in dataset.sizes.items() if size == 1 and name in dataset.coords]
    values = {name: dataset[name].values.ravel()[0] for name in single}
    return ", ".join(
        f"{dataset[name].attrs.get('long_name', name)} {value:.4g}" if isinstance(value, np.floating)
        else f"{dataset[name].attrs.get('long_name', name)} {value}"
        for name, value in values.items()
    )  # fmt: skip


def _look(look: Mapping[str, Any]) -> dict[str, str]:
    style = look["linestyle"]
    dash = _DASHES[style] if isinstance(style, str) else ",".join(f"{2 * length:g}px" for length in style[1])
    return {"color": look["color"], "dash": dash, "symbol": _SYMBOLS[look["marker"]]}
