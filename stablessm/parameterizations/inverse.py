"""From a decay back to its weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jax.typing import ArrayLike
from scipy.optimize import brentq

from stablessm.parameterizations import grammar
from stablessm.parameterizations.domain import GRID, scan
from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.evaluate import view_expression
from stablessm.parameterizations.lowering import lower
from stablessm.parameterizations.primitives import elementary

if TYPE_CHECKING:
    from stablessm.parameterizations.record import Parameterization


def weight(parameterization: Parameterization, decay: ArrayLike, constants: Mapping[str, ArrayLike]) -> Array:
    """Return the weight of each decay: `Parameterization.weight`, which see."""
    numbers = {name: float(value) for name, value in constants.items() if not isinstance(value, jax.core.Tracer)}
    fixed = parameterization.replace(constants=numbers)
    decay = jnp.asarray(decay)
    decay = decay if jnp.issubdtype(decay.dtype, jnp.floating) else decay.astype(jnp.result_type(float))
    if not isinstance(decay, jax.core.Tracer) and not fixed.missing_constants:
        _check(fixed, np.asarray(decay, float))
    formula = dict(parameterization.inverses).get(parameterization.link)
    if formula is None:
        return _by_search(fixed, decay)
    values = fixed.constants | {name: value for name, value in constants.items() if name not in numbers}
    names = tuple(name for name in grammar.constant_names(formula) if name != "s")
    arguments = (sympy.Symbol("s", real=True), *(sympy.Symbol(name, positive=True) for name in names))
    function = lower(grammar.parse(formula, variable="s"), arguments)
    return function(decay, *(jnp.asarray(values[name], decay.dtype) for name in names))


def _check(parameterization: Parameterization, decay: np.ndarray) -> None:
    image = parameterization.image
    outside = [float(value) for value in decay.ravel() if value not in image]
    if outside:
        constants = ", ".join(f"{name}={value:g}" for name, value in parameterization.values)
        raise ParameterizationError(
            f"`decay` must lie in {image} for {parameterization.name!r}"
            + (f" ({constants})" if constants else "")
            + f" under the link {parameterization.link!r}, but got {outside[0]:g}; choose one inside"
            + (" or change a constant" if constants else "")
        )


def _by_search(parameterization: Parameterization, decay: Array) -> Array:
    """Invert a formula that has no closed inverse: bracket on the scanned grid, then Brent's method, in float64.

    Of several weights the one of least size is taken, the non-negative one of a pair.
    """
    if isinstance(decay, jax.core.Tracer):
        raise ParameterizationError(
            f"{parameterization.name!r} has no inverse in closed form, so its weights must be computed outside jit"
        )
    expression = elementary(view_expression(parameterization, "decay"))
    function = sympy.lambdify(sympy.Symbol(grammar.WEIGHT, real=True), expression, ["scipy", "numpy"])
    values = scan(parameterization)

    def invert(target: float) -> float:
        difference = values - target
        exact = np.flatnonzero(difference == 0)
        crossing = np.flatnonzero(difference[:-1] * difference[1:] < 0)
        found = [float(GRID[place]) for place in exact]
        with np.errstate(all="ignore"):
            found += [
                float(brentq(lambda x: float(function(x)) - target, GRID[place], GRID[place + 1], xtol=1e-300, rtol=1e-15))
                for place in crossing
            ]
        if not found:
            raise ParameterizationError(f"no weight of {parameterization.name!r} has the decay {target:g}")
        return min(found, key=lambda value: (abs(value), value < 0))

    flat = np.asarray(decay, float).ravel()
    return jnp.asarray(np.array([invert(float(one)) for one in flat]).reshape(decay.shape), decay.dtype)
