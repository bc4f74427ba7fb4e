"""netCDF files written and read a block at a time: no array needs to be in memory whole (NumPy and xarray only).

A block is a box of a variable that lies together in row-major order, of at most `BLOCK` bytes; it is also what HDF5
compresses and checksums at a time, so that each is written once and nothing is packed twice.
"""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import h5netcdf
    import xarray as xr

BLOCK = 2**20  # bytes


Region = tuple[slice, ...]
Read = Callable[[str, Region], np.ndarray]


def regions(shape: tuple[int, ...], itemsize: int) -> Iterator[Region]:
    """Yield the blocks of an array in the order in which they lie; one, of no slices, for a scalar.

    Example:
        >>> [[(one.start, one.stop) for one in region] for region in regions((2, 3), BLOCK // 2)]
        [[(0, 1), (0, 2)], [(0, 1), (2, 3)], [(1, 2), (0, 2)], [(1, 2), (2, 3)]]
    """
    if 0 in shape:
        return
    starts = [range(0, size, step) for size, step in zip(shape, _block(shape, itemsize), strict=True)]
    for first in itertools.product(*starts):
        yield tuple(
            slice(start, min(start + one.step, size)) for start, one, size in zip(first, starts, shape, strict=True)
        )


def _block(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """All of the last axes that fit, and of the one before them as much as fits."""
    room, block = max(1, BLOCK // itemsize), [1] * len(shape)
    for axis in reversed(range(len(shape))):
        block[axis] = min(shape[axis], room)
        if block[axis] < shape[axis]:
            break
        room //= shape[axis]
        if room < 2:
            break
    return tuple(block)


def write(file: BinaryIO, dataset: xr.Dataset, read: Read) -> None:
    """Write a dataset: the same dataset gives the same bytes.

    Args:
        file: open for reading and writing, and empty.
        dataset: what to write. Of data variables of numbers only shape, dtype and attributes count: they may be
            `np.broadcast_to` of a single value.
        read: name and region of such a variable -> its values there.

    Raises:
        OSError: the disk refuses.
        Exception: whatever `read` raises.
    """
    import h5netcdf

    streamed = [name for name, variable in dataset.data_vars.items() if _is_streamed(variable)]
    rest = dataset.drop_vars(streamed)
    for variable in rest.variables.values():
        variable.encoding = {}
    packing = {name: {"_FillValue": None, **_packing(one)} for name, one in rest.variables.items()}
    file.write(bytes(rest.to_netcdf(None, engine="h5netcdf", encoding=packing)))
    remembered = _Remembering(file)
    try:
        with h5netcdf.File(remembered, "r+") as opened:
            for name in streamed:
                _write_variable(opened, str(name), dataset[name], read)
    except Exception:
        remembered.raise_refusal()
        raise
    remembered.raise_refusal()


@functools.cache
def load_libraries() -> None:
    """Load all that `write` needs, xarray and what it looks for: a second that can pass while something else waits."""
    import xarray as xr

    write(io.BytesIO(), xr.Dataset(), lambda name, region: np.empty(0))


def _write_variable(opened: h5netcdf.File, name: str, variable: xr.DataArray, read: Read) -> None:
    for dimension, size in variable.sizes.items():
        if dimension not in opened.dimensions:
            opened.dimensions[dimension] = size
    chunks = _block(variable.shape, variable.dtype.itemsize)
    made = opened.create_variable(
        name, variable.dims, variable.dtype, chunks=chunks, compression="gzip", compression_opts=4, shuffle=True,
        fletcher32=True,
    )  # fmt: skip
    for key, value in variable.attrs.items():
        made.attrs[key] = value
    for region in regions(variable.shape, variable.dtype.itemsize):
        made[region] = np.asarray(read(name, region), variable.dtype)


def _is_streamed(variable: xr.DataArray) -> bool:
    return variable.ndim > 0 and variable.size > 0 and variable.dtype.kind in "fiuc"


def _packing(variable: xr.Variable) -> Mapping[str, Any]:
    """Compress and checksum arrays of numbers."""
    packed = variable.ndim > 0 and variable.size > 0 and variable.dtype.kind in "fiu"
    return {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True} if packed else {}


class _Remembering:
    """A file whose refusals are remembered and not passed through HDF5, which does not come back from one in order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._refusal: OSError | None = None

    def write(self, content: Any) -> int:
        try:
            if self._refusal is None:
                self._file.write(content)
        except OSError as error:
            self._refusal = error
        return len(content)

    def truncate(self, size: int | None = None) -> int:
        try:
            if self._refusal is None:
                self._file.truncate(size)
        except OSError as error:
            self._refusal = error
        return size or 0

    def flush(self) -> None:
        try:
            if self._refusal is None:
                self._file.flush()
        except OSError as error:
            self._refusal = error

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(buffer)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def raise_refusal(self) -> None:
        if self._refusal is not None:
            raise self._refusal
