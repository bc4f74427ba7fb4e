"""What a sweep holds in memory at the least, from shapes alone, against what the machine has.

Nothing is compiled and nothing computed. The bound counts arrays that exist whatever the compiler does: what a program
is given and returns, what a loop carries and collects, what a Fourier transform reads. A real run needs more; one that
passes may still fail, one that is refused could not have run.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import jax
from jax.extend import core

from stablessm.measurements.compiling import compiled_bytes as compiled_bytes
from stablessm.sweeps.errors import TooLarge
from stablessm.sweeps.layout import Layout
from stablessm.sweeps.plan import Plan

# Primitives whose operands and results lie in memory: loops, and calls into libraries.
_HELD = frozenset({"scan", "while", "fft", "sort", "cholesky", "lu", "qr", "eigh", "svd", "triangular_solve"})


def is_out_of_memory(error: Exception) -> bool:
    """Whether an exception says that memory ran out, or would."""
    exhausted = isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error)
    return exhausted or isinstance(error, TooLarge | MemoryError)


def array_bytes(arrays: Iterable[Any]) -> int:
    """Return the bytes of arrays, or of anything with a shape and a dtype."""
    return sum(math.prod(one.shape) * one.dtype.itemsize for one in arrays)


def least_bytes(program: core.ClosedJaxpr) -> int:
    """Return a lower bound of the bytes that a traced program holds at one time.

    Example:
        >>> least_bytes(jax.make_jaxpr(lambda x: x.sum())(jax.ShapeDtypeStruct((1000,), "float32")))
        4004
    """
    outermost = array_bytes(program.in_avals) + array_bytes(program.out_avals)
    inside = (
        max(array_bytes(_avals(equation.invars)), array_bytes(_avals(equation.outvars)))
        for equation in _equations(program.jaxpr)
        if equation.primitive.name in _HELD
    )
    return max(outermost, max(inside, default=0))


def memory_of(device: jax.Device) -> int:
    """Return the bytes of memory a device has: its own, or the machine's."""
    own = (device.memory_stats() or {}).get("bytes_limit")
    return own if own else machine_memory()


def machine_memory() -> int:
    """Return the bytes of the machine's memory; without a bound where the system does not say."""
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_too_large(what: str, needed: int, there: int, *, smaller: Iterable[str]) -> None:
    """Raise a `TooLarge` where something does not fit.

    Args:
        what: needs the memory.
        needed: bytes.
        there: bytes.
        smaller: what to make smaller.
    """
    if needed > there:
        *some, last = smaller
        names = f"{', '.join(some)} or {last}" if some else last
        raise TooLarge(
            f"{what} needs at least {sized(needed)} of memory, but there is {sized(there)}: make {names} smaller."
        )


def refuse_too_large_dataset(plan: Plan, layout: Layout) -> None:
    """Raise a `TooLarge` where the machine cannot hold the dataset of a sweep, as analyses and figures need it."""
    refuse_too_large(
        f"the dataset of {plan.cells} cells",
        plan.items * plan.spec.chunk * layout.cell_bytes,
        machine_memory(),
        smaller=["the axes", *(name for name, value in plan.spec.settings.items() if type(value) is int)],
    )


def sized(count: int) -> str:
    """Return a number of bytes with a unit.

    Example:
        >>> sized(16_400_000_000), sized(12)
        ('16.4 GB', '12 B')
    """
    units = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
    place = min(len(units) - 1, max(0, (len(str(count)) - 1) // 3))
    return f"{count / 1000**place:.3g} {units[place]}"


def _equations(jaxpr: core.Jaxpr) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation
        for inner in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda one: isinstance(one, core.Jaxpr | core.ClosedJaxpr)
        ):
            if isinstance(inner, core.ClosedJaxpr):
                yield from _equations(inner.jaxpr)
            elif isinstance(inner, core.Jaxpr):
                yield from _equations(inner)


def _avals(variables: Iterable[Any]) -> Iterator[Any]:
    return (one.aval for one in variables if hasattr(one.aval, "shape") and hasattr(one.aval, "dtype"))
