"""What a benchmark is, and how its candidates are paired."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple


class Candidate(NamedTuple):
    """One way to do the work.

    Attributes:
        name: row of the table; the first candidate of a benchmark is the peer that the ratios refer to.
        run: does the work once; returns when it is done.
        units: how many units (configurations, calls) one run does; times are given per unit.
        declared: what was cut against the full workload, or empty.
        temporary_bytes: temporary memory of its compiled program, None where it has none.
        difference: relative difference of its result from the reference, None where there is nothing to compare.
    """

    name: str
    run: Callable[[], object]
    units: int
    declared: str = ""
    temporary_bytes: int | None = None
    difference: float | None = None


class Timing(NamedTuple):
    """Medians of a candidate over the rounds, per unit, in seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Benchmark:
    """A named benchmark.

    Attributes:
        name: key in `BENCHMARKS`.
        summary: one line.
        program: "module:function" of (quick) -> list of candidates, compiled and warm.
    """

    name: str
    summary: str
    program: str

    def candidates(self, *, quick: bool) -> list[Candidate]:
        """Return the candidates, ready to run."""
        module, function = self.program.split(":")
        return getattr(import_module(module), function)(quick)


def paired(
    candidates: Sequence[Candidate], rounds: int, *, tell: Callable[[int], None] = lambda done: None
) -> Mapping[str, Timing]:
    """Run the candidates in turn, in reversed order every other round, and return the medians.

    Args:
        candidates: what is compared; each has run once already.
        rounds: how many rounds, odd so that the median is a measured one.
        tell: called with the number of finished rounds.
    """
    seen: dict[str, list[Timing]] = {one.name: [] for one in candidates}
    for number in range(rounds):
        for one in candidates if number % 2 == 0 else reversed(candidates):
            cpu, wall = time.process_time(), time.perf_counter()
            one.run()
            seen[one.name].append(
                Timing((time.process_time() - cpu) / one.units, (time.perf_counter() - wall) / one.units)
            )
        tell(number + 1)
    return {
        name: Timing(statistics.median(t.cpu for t in times), statistics.median(t.wall for t in times))
        for name, times in seen.items()
    }
