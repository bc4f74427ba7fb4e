"""What a benchmark is, and how its candidates are paired."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple


class Candidate(NamedTuple):
    """One way to do the work.

    Attributes:
        name: row of the table; the first candidate of a case is the peer that the ratios refer to.
        run: does the work once; returns when it is done. None where it is not run; `declared` says why.
        units: how many units (configurations, series, calls) one run does; times and memory are given per unit.
        declared: what was cut against the full workload, or empty.
        temporary_bytes: temporary memory of its compiled program, None where it has none.
        difference: largest error over the largest value, against float64 unless the table says otherwise; None where
            there is nothing to compare.
    """

    name: str
    run: Callable[[], object] | None
    units: int
    declared: str = ""
    temporary_bytes: int | None = None
    difference: float | None = None


class Case(NamedTuple):
    """Candidates for the same work.

    Attributes:
        name: what is done, for example "forward".
        states: N, modes.
        length: L, steps.
        candidates: the peer that the ratios refer to first.
    """

    name: str
    states: int
    length: int
    candidates: Sequence[Candidate]


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
        program: "module:function" of (quick) -> cases, their candidates compiled and warm.
    """

    name: str
    summary: str
    program: str

    def cases(self, *, quick: bool) -> Iterator[Case]:
        """Yield the cases, ready to run; each is made when the one before has been measured."""
        module, function = self.program.split(":")
        yield from getattr(import_module(module), function)(quick)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def paired(
    candidates: Sequence[Candidate], rounds: int, *, tell: Callable[[int], None] = lambda done: None
) -> Mapping[str, Timing]:
    """Run the candidates in turn, in reversed order every other round, and return the medians.

    Args:
        candidates: what is compared; each has run once already, or is not run and has no timing.
        rounds: how many rounds, odd so that the median is a measured one.
        tell: called with the number of finished rounds.
    """
    candidates = [one for one in candidates if one.run is not None]
    seen: dict[str, list[Timing]] = {one.name: [] for one in candidates}
    for number in range(rounds):
        for one in candidates if number % 2 == 0 else reversed(candidates):
            cpu, wall = cpu_seconds(), time.perf_counter()
            one.run()
            seen[one.name].append(Timing((cpu_seconds() - cpu) / one.units, (time.perf_counter() - wall) / one.units))
        tell(number + 1)
    return {
        name: Timing(statistics.median(t.cpu for t in times), statistics.median(t.wall for t in times))
        for name, times in seen.items()
    }
