"""A benchmark of two candidates that do next to nothing, at two lengths."""

from stablessm.bench.base import Candidate, Case


def cases(quick):
    for length in (16, 32):
        work = lambda: sum(range(1000))  # noqa: E731
        yield Case("forward", 2, length, [Candidate("peer", work, 1), Candidate("engine", work, 1, "a part", 80, 1e-7)])
