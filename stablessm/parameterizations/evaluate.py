"""From a record, a view and arrays to numbers: the one place where a formula meets JAX."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import jax.numpy as jnp
import sympy
from jax import Array
from jax.typing import ArrayLike

from stablessm.parameterizations import grammar, links
from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.lowering import lower

if TYPE_CHECKING:
    from stablessm.parameterizations.record import Parameterization


@lru_cache(maxsize=1024)
def view_expression(parameterization: Parameterization, view: str, free: tuple[str, ...] = ()) -> sympy.Expr:
    """Return the expression of a view with the record's constants substituted, except those named in `free`."""
    decay = grammar.parse(parameterization.formula)
    fixed = {
        sympy.Symbol(name, positive=True): sympy.Rational(repr(value))
        for name, value in parameterization.values
        if name not in free
    }
    return links.views(decay.subs(fixed), parameterization.link)[view]


def evaluate(
    parameterization: Parameterization,
    view: str,
    weight: ArrayLike,
    constants: Mapping[str, ArrayLike],
    extra: Mapping[str, ArrayLike],
) -> Array:
    """Evaluate a view at a weight.

    Args:
        parameterization: the map.
        view: a key of `links.views`.
        weight: any shape; its dtype is the dtype of the computation (integers become the default float).
        constants: overrides, numbers or arrays; arrays are traced and broadcast against the weight.
        extra: further arguments of the view (step size, frequency).

    Raises:
        ParameterizationError: a constant is unknown or has no value.
    """
    for name in constants:
        if name not in parameterization.constant_names:
            known = ", ".join(parameterization.constant_names) or "none"
            raise ParameterizationError(
                f"{parameterization.name!r} has no constant {name!r}; its constants are: {known}"
            )
    numbers = {name: value for name, value in constants.items() if isinstance(value, int | float)}
    if numbers:
        parameterization = parameterization.replace(constants=numbers)
    arrays = {name: value for name, value in constants.items() if name not in numbers}
    missing = [name for name in parameterization.missing_constants if name not in arrays]
    if missing:
        raise ParameterizationError(
            f"{parameterization.name!r} needs a value for the constant {missing[0]!r}, and has none"
        )
    weight = jnp.asarray(weight)
    if not jnp.issubdtype(weight.dtype, jnp.floating):
        weight = weight.astype(jnp.result_type(float))
    symbols = (
        sympy.Symbol(grammar.WEIGHT, real=True),
        *(sympy.Symbol(name, positive=True) for name in arrays),
        *map(links.argument, extra),
    )
    function = lower(view_expression(parameterization, view, tuple(arrays)), symbols, saturating=bool(extra))
    return function(weight, *(jnp.asarray(value, weight.dtype) for value in (*arrays.values(), *extra.values())))
