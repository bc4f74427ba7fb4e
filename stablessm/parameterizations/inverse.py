"""From a decay back to its weight."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jax.typing import ArrayLike

from stablessm.parameterizations import grammar
from stablessm.parameterizations.domain import GRID, scan
from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.lowering import lower

if TYPE_CHECKING:
    from stablessm.parameterizations.record import Parameterization

_ROUNDING = 1e-12  # relative; of the scan, which is in float64


def weight(parameterization: Parameterization, decay: ArrayLike, constants: Mapping[str, ArrayLike]) -> Array:
    """Return the weight of each decay: `Parameterization.weight`, which see."""
    numbers = {
        name: value
        for name, value in constants.items()
        if not isinstance(value, jax.core.Tracer) and jnp.ndim(value) == 0
    }
    fixed = parameterization.replace(constants=numbers)
    decay = jnp.asarray(decay)
    decay = decay if jnp.issubdtype(decay.dtype, jnp.floating) else decay.astype(jnp.result_type(float))
    if not isinstance(decay, jax.core.Tracer) and not fixed.missing_constants:
        _check(fixed, decay)
    formula = dict(parameterization.inverses).get(parameterization.link)
    if formula is None:
        traced = {name: value for name, value in constants.items() if name not in numbers}
        if any(jnp.ndim(value) for value in traced.values()):
            raise ParameterizationError(
                f"the inverse of {parameterization.name!r} has no closed form and takes one value of each constant "
                "at a time; vmap over the constants"
            )
        return _by_crossing(fixed, decay, traced) if traced else _by_search(fixed, decay)
    values = fixed.constants | {name: value for name, value in constants.items() if name not in numbers}
    names = tuple(name for name in grammar.constant_names(formula) if name != "s")
    arguments = (sympy.Symbol("s", real=True), *(sympy.Symbol(name, positive=True) for name in names))
    function = lower(grammar.parse(formula, variable="s"), arguments)
    return function(decay, *(jnp.asarray(values[name], decay.dtype) for name in names))


def _check(parameterization: Parameterization, decay: Array) -> None:
    """Raise for a decay outside the image; an end that belongs to it does so as rounded to the decay's dtype, too."""
    image = parameterization.image
    ends = [end for end, closed in ((image.lower, image.lower_closed), (image.upper, image.upper_closed)) if closed]
    rounded = {float(np.asarray(end).astype(decay.dtype)) for end in ends}
    outside = [
        value for value in np.asarray(decay, float).ravel().tolist() if value not in image and value not in rounded
    ]
    if outside:
        constants = ", ".join(f"{name}={value:g}" for name, value in parameterization.values)
        raise ParameterizationError(
            f"`decay` must lie in {image} for {parameterization.name!r}"
            + (f" ({constants})" if constants else "")
            + f" under the link {parameterization.link!r}, but got {outside[0]:g}; choose one inside"
            + (" or change a constant" if constants else "")
        )


def _by_search(parameterization: Parameterization, decay: Array) -> Array:
    """Invert a formula that has no closed inverse on its widest monotone branch, the right one of a symmetric pair.

    The scanned branch brackets each decay, and bisection of the lowered decay closes the bracket; both run under jit.

    Raises:
        ParameterizationError: the formula is monotone nowhere, or a decay that is not traced is not on the branch.
    """
    weights, decays = _branch(parameterization)
    if not isinstance(decay, jax.core.Tracer):
        values = np.asarray(decay, float)
        outside = values[(values < decays[0]) | (values > decays[-1])]
        if outside.size:
            raise ParameterizationError(
                f"no weight on the widest monotone branch of {parameterization.name!r}, whose decays run from "
                f"{decays[0]:g} to {decays[-1]:g}, has the decay {outside.flat[0]:g}"
            )
    largest = float(jnp.finfo(decay.dtype).max)
    table, known = (jnp.asarray(np.clip(part, -largest, largest), decay.dtype) for part in (weights, decays))
    place = jnp.clip(jnp.searchsorted(known, decay), 1, len(weights) - 1)

    def halve(_: Array, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket  # weights of smaller and of larger decay
        middle = low + (high - low) / 2
        below = parameterization.decay(middle) < decay
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    low, high = jax.lax.fori_loop(0, jnp.finfo(decay.dtype).nmant + 4, halve, (table[place - 1], table[place]))
    return low + (high - low) / 2


def _by_crossing(parameterization: Parameterization, decay: Array, constants: Mapping[str, Array]) -> Array:
    """Invert a formula whose constants are traced: its branches are not known, so take the rightmost crossing.

    The decay is evaluated over the grid of weights; the last pair of neighbours on both sides of the wanted decay is
    the bracket that bisection closes. NaN where there is none, as the closed inverses give outside the image.
    """
    wanted = decay.reshape(-1)
    largest = float(jnp.finfo(decay.dtype).max)
    grid = jnp.asarray(np.clip(GRID, -largest, largest), decay.dtype)
    known = parameterization.decay(grid, **constants)
    above = known >= wanted[:, None]
    crosses = (above[:, 1:] != above[:, :-1]) & jnp.isfinite(known[1:]) & jnp.isfinite(known[:-1])
    place = len(GRID) - 2 - jnp.argmax(crosses[:, ::-1], axis=1)
    falling = jnp.take_along_axis(above, place[:, None], axis=1)[:, 0]

    def halve(_: Array, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        left, right = bracket
        middle = left + (right - left) / 2
        stays = (parameterization.decay(middle, **constants) >= wanted) == falling
        return jnp.where(stays, middle, left), jnp.where(stays, right, middle)

    left, right = jax.lax.fori_loop(0, jnp.finfo(decay.dtype).nmant + 4, halve, (grid[place], grid[place + 1]))
    found = jnp.where(crosses.any(axis=1), left + (right - left) / 2, jnp.nan)
    return found.reshape(decay.shape)


@lru_cache(maxsize=64)
def _branch(parameterization: Parameterization) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and decays of the monotone run of the scan that spans most decades of decay, decays ascending.

    Steps within rounding are level: they end no run, and those beside the widest run belong to it.
    """
    values = scan(parameterization)
    with np.errstate(all="ignore"):
        known = np.minimum(values[:-1], values[1:]) > 0
        steps = np.where(known, np.diff(np.log(values)), np.nan)
    signs = np.where(np.abs(steps) > _ROUNDING, np.sign(steps), 0.0)
    directed = np.maximum.accumulate(np.where((signs != 0) | ~known, np.arange(len(signs)), 0))
    signs = np.where(known, signs[directed], 0.0)
    cuts = np.flatnonzero(np.diff(signs)) + 1
    runs = [(a, b) for a, b in zip([0, *cuts], [*cuts, len(signs)], strict=True) if signs[a] != 0]
    if not runs:
        raise ParameterizationError(f"the formula {parameterization.formula!r} is monotone nowhere, so has no inverse")

    def decades(run: tuple[int, int]) -> tuple[float, bool]:
        ends = np.sort(np.maximum(values[[run[0], run[1]]], 1e-30))
        return round(float(np.log(ends[1]) - np.log(ends[0])), 6), bool(GRID[sum(run) // 2] > 0)

    first, last = max(runs, key=decades)
    rises = values[last] > values[first]
    while first > 0 and np.abs(steps[first - 1]) <= _ROUNDING:
        first -= 1
    chosen = slice(first, last + 1)
    weights, decays = GRID[chosen], values[chosen]
    weights, decays = (weights, decays) if rises else (weights[::-1], decays[::-1])
    return weights, np.maximum.accumulate(decays)
