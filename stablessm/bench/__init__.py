"""Paired benchmarks: candidates take turns in one process, and only ratios count. Light to import."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.bench.base import Benchmark

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        one.name: one
        for one in (
            Benchmark(
                "sweep",
                "160 training runs of a linear RNN: closed form and Gram form against the usual Python loop",
                "stablessm.bench.sweep:candidates",
            ),
        )
    }
)
