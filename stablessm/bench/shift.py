"""Benchmark `shift`: see `siso`, whose problem it shares."""

from stablessm.bench.siso import shift_cases as cases

__all__ = ["cases"]
