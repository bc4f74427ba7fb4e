"""Two datasets of one experiment against each other: what is equal, what is close, what is not.

Made for one question: does another machine, device or precision give the same results? Training beyond the stability
limit amplifies the last digit of a float, so in a dataset with an `outcome` only the cells that are stable in both are
held to the tolerance; the outcomes themselves are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from stablessm.datasets import DatasetError

STABLE_WORDS = ("converged", "step_limit")


class Row(NamedTuple):
    """How one variable compares.

    Attributes:
        name: the variable.
        values: how many values were compared.
        equal: how many of them are equal to the last bit, both NaN counting as equal.
        relative: largest |a - b| / max(|a|, |b|) among the finite ones.
        beyond: how many are beyond the tolerance.
    """

    name: str
    values: int
    equal: int
    relative: float
    beyond: int


def compare(one: xr.Dataset, two: xr.Dataset, *, relative: float = 1e-3, absolute: float = 1e-6) -> list[Row]:
    """Compare the variables both datasets hold, on the coordinates both have.

    Args:
        one: a dataset.
        two: another, of the same axes.
        relative: tolerance, of max(|a|, |b|).
        absolute: tolerance, of the largest finite |a| of the variable; what is smaller is rounding.

    Returns:
        A row for each variable; numbers within `absolute + relative` of each other are not beyond the tolerance.

    Raises:
        DatasetError: they share no variable of equal axes, or no coordinate along some dimension.
    """
    shared = [name for name in one.data_vars if name in two.data_vars and one[name].dims == two[name].dims]
    if not shared:
        lone = sorted(map(str, set(one.dims) ^ set(two.dims)))
        if lone and set(one.data_vars) & set(two.data_vars):
            raise DatasetError(
                f"the two datasets share no variable of equal axes: only one of them has {', '.join(map(repr, lone))}; "
                "compare two sweeps over the same axes."
            )
        raise DatasetError("the two datasets share no variable; compare two of one experiment.")
    first, second = xr.align(one[shared], two[shared], join="inner")
    empty = [str(name) for name, size in first.sizes.items() if size == 0]
    if empty:
        raise DatasetError(f"the two datasets share no value of '{empty[0]}'; compare two of one experiment.")
    stable = _stable(first) & _stable(second) if "outcome" in shared else None
    return [_row(name, first[name], second[name], stable, relative, absolute) for name in map(str, shared)]


def _stable(dataset: xr.Dataset) -> xr.DataArray:
    words = dataset["outcome"].attrs["flag_meanings"].split()
    codes = dict(zip(words, np.ravel(dataset["outcome"].attrs["flag_values"]), strict=True))
    return dataset["outcome"].isin([codes[word] for word in STABLE_WORDS if word in codes])


def _row(
    name: str, one: xr.DataArray, two: xr.DataArray, stable: xr.DataArray | None, relative: float, absolute: float
) -> Row:
    a, b = one.values.ravel(), two.values.ravel()
    if a.dtype.kind not in "fc":
        same = a == b
        return Row(name, a.size, int(same.sum()), 0.0, int((~same).sum()) if name != "start_hash" else 0)
    if stable is not None:
        chosen = stable.broadcast_like(one).transpose(*one.dims).values.ravel()
        a, b = a[chosen], b[chosen]
    a, b = np.broadcast_arrays(a, b.astype(np.result_type(a, b)))
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        gap, size = np.abs(a - b), np.maximum(np.abs(a), np.abs(b))
        finite = np.isfinite(gap) & np.isfinite(size)
        floor = absolute * (np.abs(a[np.isfinite(a)]).max() if np.isfinite(a).any() else 0.0)
        far = ~same & ~(finite & (gap <= floor + relative * size))
        ratio = np.where(finite & (size > floor), gap / size, 0.0)
    return Row(name, a.size, int(same.sum()), float(ratio.max()) if ratio.size else 0.0, int(far.sum()))
