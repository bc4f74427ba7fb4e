"""The first unbroken run of stable rates: what closes it, and what is not known of it."""

from __future__ import annotations

import numpy as np
import xarray as xr


def _accumulate(operation: np.ufunc, values: xr.DataArray) -> xr.DataArray:
    """Return the running `operation` from the lowest rate upward.

    Args:
        operation: a binary ufunc.
        values: along `learning_rate`, in ascending order.
    """
    return values.copy(data=operation.accumulate(values.values, axis=values.get_axis_num("learning_rate")))


def first_run(stable: xr.DataArray) -> xr.DataArray:
    """Return which rates belong to the first unbroken run of stable ones.

    Unstable rates below it (too small to learn at, mostly) neither belong to it nor end it.

    Args:
        stable: whether a rate is stable, along `learning_rate` in ascending order.
    """
    return stable & ~broken(stable, ~stable)


def broken(stable: xr.DataArray, unstable: xr.DataArray) -> xr.DataArray:
    """Return from which rate on an unstable one lies above a stable one.

    Args:
        stable: whether a rate is stable, along `learning_rate` in ascending order.
        unstable: whether it is not; a rate that was not computed may be neither.
    """
    return _accumulate(np.logical_or, _accumulate(np.logical_or, stable) & unstable)
