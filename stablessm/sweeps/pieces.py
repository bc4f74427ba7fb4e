"""One work item on several devices, and in pieces where memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from stablessm.sweeps.memory import is_out_of_memory


class Measured(NamedTuple):
    """Results of a work item.

    Attributes:
        results: variable -> array of shape (cells, *inner), on the host.
        size: cells that were computed at a time.
        pieces: how many times.
    """

    results: dict[str, np.ndarray]
    size: int
    pieces: int


def sharing(devices: Sequence[jax.Device], cells: int) -> tuple[jax.Device, ...]:
    """Return as many of the devices as share the cells evenly."""
    count = next(count for count in range(min(len(devices), cells), 0, -1) if cells % count == 0)
    return tuple(devices[:count])


def spread(
    function: Callable[..., Any], devices: Sequence[jax.Device], traced: Mapping[str, Any], shared: int
) -> Callable[..., Any]:
    """Return a function of (traced, starts, index, *shared) that computes the cells on several devices, none of which
    asks another for anything.

    Args:
        function: of all cells, each by itself.
        devices: which share the cells evenly; of a single one the function is returned as it is.
        traced: the traced axes, of which a scalar is the same for all cells.
        shared: how many arguments are shared.
    """
    if len(devices) == 1:
        return function
    cells, same = PartitionSpec("cell"), PartitionSpec()
    axes = {name: cells if one.ndim else same for name, one in traced.items()}
    return jax.shard_map(
        function,
        mesh=Mesh(np.array(devices), ("cell",)),
        in_specs=(axes, same, cells, *(same,) * shared),
        out_specs=cells,
        check_vma=False,
    )


def in_pieces(
    compiled: Callable[[int], Callable[..., Any]],
    size: int,
    traced: Mapping[str, np.ndarray],
    starts: Any,
    index: np.ndarray,
    shared: Sequence[Any],
) -> Measured:
    """Compute cells `size` at a time, and half as many where that takes more memory than there is.

    Args:
        compiled: number of cells -> what computes so many of (traced, starts, index, *shared).
        size: how many to begin with.
        traced: the traced axes, each of shape (cells,), or a scalar.
        starts: for all of them.
        index: place of each cell's start, of shape (cells,).
        shared: what all of them read.

    Raises:
        Exception: whatever the compiler or the device raised, for a single cell where it was the memory.
    """
    found: list[dict[str, np.ndarray]] = []
    first = 0
    while first < len(index):
        rows = np.minimum(np.arange(first, first + size), len(index) - 1)
        some = {name: values[rows] if values.ndim else values for name, values in traced.items()}
        try:
            results = dict(compiled(size)(some, starts, index[rows], *shared))
            kept = min(size, len(index) - first)
            host = {name: np.asarray(values)[:kept] for name, values in results.items()}
        except Exception as error:
            if size == 1 or not is_out_of_memory(error):
                raise
            size = -(-size // 2)
            continue
        found.append(host)
        first += size
    joined = {name: np.concatenate([one[name] for one in found]) for name in found[0]} if len(found) > 1 else found[0]
    return Measured(joined, size, len(found))
