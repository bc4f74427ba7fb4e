"""What benchmarks measured, as a dataset: one row for each candidate of each case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from stablessm.bench.base import Case, Timing

NOTHING = (
    -1
)  # memory of what is no compiled program, error where there is nothing to compare with, time of what is not run

_COLUMNS = {
    "benchmark": ("benchmark", "1"),
    "case": ("what is done", "1"),
    "candidate": ("how it is done", "1"),
    "declared": ("what was cut against the full workload", "1"),
    "states": ("modes a channel", "1"),
    "length": ("time steps", "1"),
    "platform": ("device", "1"),
    "rounds": ("rounds of the medians", "1"),
    "cpu": (f"CPU time for a unit of work ({NOTHING}: not run)", "s"),
    "wall": (f"wall time for a unit of work ({NOTHING}: not run)", "s"),
    "cpu_ratio": ("CPU time of the first candidate over that of this one", "1"),
    "wall_ratio": ("wall time of the first candidate over that of this one", "1"),
    "temporary_bytes": (f"temporary memory for a unit of work ({NOTHING}: not a compiled program)", "B"),
    "error": (f"largest error over largest value ({NOTHING}: nothing to compare with)", "1"),
}


class Row(NamedTuple):
    """One candidate of one case; the fields are the variables of the dataset."""

    benchmark: str
    case: str
    candidate: str
    declared: str
    states: int
    length: int
    platform: str
    rounds: int
    cpu: float
    wall: float
    cpu_ratio: float
    wall_ratio: float
    temporary_bytes: float
    error: float


def rows_of(benchmark: str, case: Case, timings: dict[str, Timing], *, platform: str, rounds: int) -> list[Row]:
    """Return the rows of a measured case.

    Args:
        benchmark: its name.
        case: what was measured; ratios refer to its first candidate.
        timings: medians by candidate.
        platform: of the device.
        rounds: how many.
    """
    unknown = Timing(NOTHING, NOTHING)
    peer = timings.get(case.candidates[0].name, unknown)
    own = [timings.get(one.name, unknown) for one in case.candidates]
    return [
        Row(
            benchmark, case.name, one.name, one.declared or "nothing", case.states, case.length, platform, rounds,
            time.cpu, time.wall, _ratio(peer.cpu, time.cpu), _ratio(peer.wall, time.wall),
            NOTHING if one.temporary_bytes is None else one.temporary_bytes / one.units,
            NOTHING if one.difference is None else one.difference,
        )
        for one, time in zip(case.candidates, own, strict=True)
    ]  # fmt: skip


def _ratio(peer: float, own: float) -> float:
    return NOTHING if NOTHING in (peer, own) else peer / max(own, 1e-9)  # the clock of the processor may not have moved


def dataset(rows: Sequence[Row], kept: xr.Dataset | None = None) -> xr.Dataset:
    """Return rows as a dataset along `row`; of an older one, the benchmarks that were not measured again stay.

    Args:
        rows: what was measured.
        kept: the older dataset.
    """
    measured = {row.benchmark for row in rows}
    old = [] if kept is None else [one for one in rows_in(kept) if one.benchmark not in measured]
    every = sorted([*old, *rows], key=lambda row: row.benchmark)
    columns = {
        name: ("row", np.array([getattr(row, name) for row in every]), {"long_name": text, "units": units})
        for name, (text, units) in _COLUMNS.items()
    }
    places = ("row", np.arange(len(every), dtype=np.int32), {"long_name": "row", "units": "1"})
    return xr.Dataset(columns, coords={"row": places}, attrs={"name": "bench"})


def rows_in(data: xr.Dataset) -> list[Row]:
    """Return the rows of a dataset."""
    return [Row(*(data[name].values[place].item() if data[name].dtype.kind in "fiu" else str(data[name].values[place])
                  for name in Row._fields)) for place in range(data.sizes["row"])]  # fmt: skip
