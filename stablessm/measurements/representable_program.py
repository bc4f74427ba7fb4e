r"""The program of the measurement `representable_memory`.

A mode of margin mu remembers about 1/mu steps, so that the smallest positive margin over the finite weights of a format
sets the longest memory. Two margins are compared, both in the format:

- the map's own, which is computed without a subtraction (per step: s dt in continuous time);
- 1 - |lambda|, with the step's multiplier lambda rounded to the format, as in a recurrence that multiplies by it. It is
  a multiple of half the rounding of 1, whatever the map.

All 2^16 weights of a 16-bit format are tried. In float32 all those whose last 16 bits are zero are, and then every
weight of the two cells beside the best: exact where the margin is monotone there. Margins below the smallest normal
number do not count in float32 and bfloat16, where devices may flush them to zero; in float16 they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.measurements.base import Program, constants_of
from stablessm.measurements.representable import DTYPES, RepresentableSettings
from stablessm.parameterizations import Parameterization

_PATTERNS = 2**16


def representable_memory(static: Mapping[str, Any], settings: RepresentableSettings) -> Program:
    """Program of `representable_memory`."""
    parameterization: Parameterization = static["parameterization"]

    def measure(traced: Mapping[str, Array], starts: Any, index: Array) -> Mapping[str, Array]:
        constants, found = constants_of(traced), []
        for dtype in map(jnp.dtype, DTYPES):
            own, multiplier = margins(parameterization, dtype, settings.step_size, constants)
            found.append([*_longest(own, dtype), *_longest(multiplier, dtype)])
        names = ("longest_memory", "longest_memory_by_subtraction")
        columns = [jnp.stack(column) for column in zip(*found, strict=True)]
        return {
            names[0]: columns[0], f"{names[0]}_weight": columns[1],
            names[1]: columns[2], f"{names[1]}_weight": columns[3],
        }  # fmt: skip

    return Program({"dtype": np.asarray(DTYPES)}, lambda seed: (), measure)


def margins(
    parameterization: Parameterization, dtype: Any, step_size: float, constants: Mapping[str, Array]
) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Return the two margins of a step as functions of weights of a format: the map's own, and by subtraction.

    Args:
        parameterization: the map.
        dtype: the format.
        step_size: dt, in continuous time.
        constants: overrides of the map's constants, traced or not.
    """
    constants = {name: jnp.asarray(value, dtype) for name, value in constants.items()}
    continuous = parameterization.link == "continuous"
    step, format_ = jnp.asarray(step_size, dtype), jnp.finfo(dtype)

    def own(weight: Array) -> Array:
        margin = parameterization.margin(weight, **constants)
        return margin * step if continuous else margin

    def by_subtraction(weight: Array) -> Array:
        multiplier = (
            parameterization.zero_order_hold(weight, step, **constants)[0]
            if continuous
            else parameterization.eigenvalue(weight, **constants)
        )
        # A compiler may keep more digits than the format has; this rounds for certain.
        rounded = jax.lax.reduce_precision(jnp.abs(multiplier), format_.bits - 1 - format_.nmant, format_.nmant)
        return 1 - rounded

    return own, by_subtraction


def _longest(margin: Callable[[Array], Array], dtype: Any) -> tuple[Array, Array]:
    """Return 1 / the smallest positive margin over the finite weights of a format, 0 where none is, and its weight."""
    bits = jnp.finfo(dtype).bits
    patterns = jnp.arange(_PATTERNS, dtype=jnp.uint32)

    def smallest(raw: Array) -> tuple[Array, Array]:
        weight = jax.lax.bitcast_convert_type(raw.astype(jnp.uint16 if bits == 16 else jnp.uint32), dtype)
        value = margin(jnp.where(jnp.isfinite(weight), weight, 0))
        counts = jnp.isfinite(weight) & (value > 0)
        value = value.astype(jnp.float32)
        value = jnp.where(counts & (value >= jnp.finfo(jnp.float32).tiny), value, jnp.inf)
        place = jnp.argmin(value)
        return value[place], raw[place]

    def visit(best: tuple[Array, Array], start: Array) -> tuple[tuple[Array, Array], None]:
        # The first round looks at every 2^16th weight, the next two at all weights of the cells beside its best.
        cell = jnp.where(start == 0, 0, best[1] - best[1] % _PATTERNS)
        cell = jnp.where((start == 2) & (cell >= _PATTERNS), cell - _PATTERNS, cell)
        found = smallest(jnp.where(start == 0, patterns * _PATTERNS, cell + patterns))
        better = found[0] < best[0]
        return jax.tree.map(lambda new, old: jnp.where(better, new, old), found, best), None

    if bits == 16:
        value, raw = smallest(patterns)
        weight = jax.lax.bitcast_convert_type(raw.astype(jnp.uint16), dtype)
    else:
        (value, raw), _ = jax.lax.scan(visit, (jnp.float32(jnp.inf), jnp.uint32(0)), jnp.arange(3))
        weight = jax.lax.bitcast_convert_type(raw, dtype)
    return 1 / value, jnp.where(jnp.isfinite(value), weight.astype(jnp.float32), 0)
