"""Paired benchmarks: candidates take turns in one process, and only ratios count. Light to import."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablessm.bench.base import Benchmark

_SUMMARIES = {
    "powers": "powers of complex poles up to k = 10^6: split turns against exp(k log) and lambda ** k",
    "siso": "banks of 64 modes a channel: engine against associative scan, Vandermonde grid, compiled loop, PyTorch",
    "shift": "8 channels on 4096 shared poles over 65536 steps: engine against the grid; memory at growing N",
    "mimo": "64 modes between 64 inputs and outputs: engine against the associative scan of S5",
    "dplr": "S4 kernels of 64 states: engine against the published form and naive matrix powers",
    "train": "S4D kernels and whole training steps, beside their floor, the grid and PyTorch",
    "lm": "character models of DLR against attention with feed-forward, of equal parameters: training and decoding",
    "sweep": "160 training runs of a linear RNN: closed form and Gram form against the usual Python loop",
    "startup": "from the shell: --help, and the first result, against importing the libraries alone",
}

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {name: Benchmark(name, summary, f"stablessm.bench.{name}:cases") for name, summary in _SUMMARIES.items()}
)
