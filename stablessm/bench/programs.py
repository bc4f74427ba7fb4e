"""Candidates from functions: compiled, warm, with their temporary memory and their error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from stablessm.bench.base import Candidate


def relative_error(actual: Any, exact: Any) -> float:
    """Return the largest error over the largest value."""
    actual, exact = np.asarray(actual), np.asarray(exact)
    return float(np.abs(actual - exact).max() / max(np.abs(exact).max(), np.finfo(float).tiny))


def program(
    name: str,
    function: Callable,
    arguments: tuple,
    *,
    units: int,
    exact: Any = None,
    declared: str = "",
    compared: slice = slice(None),
) -> Candidate:
    """Return a candidate that runs a jitted function.

    Args:
        name: of the row.
        function: of the arguments; compiled here.
        arguments: arrays.
        units: as for `Candidate`.
        exact: float64 value of the function, for the error.
        declared: as for `Candidate`.
        compared: which rows of the result `exact` is for.
    """
    compiled = jax.jit(function).lower(*arguments).compile()
    analysis = compiled.memory_analysis()
    result = jax.block_until_ready(compiled(*arguments))

    def run() -> object:
        return jax.block_until_ready(compiled(*arguments))

    error = None if exact is None else relative_error(result[compared], exact)
    return Candidate(name, run, units, declared, getattr(analysis, "temp_size_in_bytes", None), error)


def weighed(name: str, function: Callable, arguments: tuple, *, units: int) -> Candidate:
    """Return a candidate that is compiled for its temporary memory and never run.

    Args:
        name: of the row.
        function: of the arguments.
        arguments: arrays, or their shapes.
        units: as for `Candidate`.
    """
    analysis = jax.jit(function).lower(*arguments).compile().memory_analysis()
    return Candidate(name, None, units, "compiled, not run", getattr(analysis, "temp_size_in_bytes", None))


def absent(name: str) -> Candidate:
    """Return the row of a peer that is not installed."""
    return Candidate(name, None, 1, "not installed")


def plain(name: str, function: Callable[[], Any], *, units: int, exact: Any = None, declared: str = "") -> Candidate:
    """Return a candidate that is no JAX program: NumPy, a compiled loop, PyTorch."""
    result = function()
    return Candidate(name, function, units, declared, None, None if exact is None else relative_error(result, exact))
