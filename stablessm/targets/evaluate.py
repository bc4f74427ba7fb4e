"""Samples of a target's formula, in float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from scipy.special import expit

from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.grammar import KERNEL_FUNCTIONS, parse
from stablessm.targets.errors import TargetError

if TYPE_CHECKING:
    from stablessm.targets.record import Target

_PRIMITIVES = {"sigmoid": expit, "softplus": lambda x: np.logaddexp(0.0, x)}


def evaluate(target: Target, times: np.ndarray) -> np.ndarray:
    """Return rho at each time, NaN where it is not a real number, shape of `times`.

    Args:
        target: every constant given.
        times: t >= 0.

    Raises:
        TargetError: the formula does not parse.
    """
    with np.errstate(all="ignore"):
        values = _function(target)(np.asarray(times, np.float64))
    return np.array(np.broadcast_to(np.asarray(values, np.float64), times.shape))


@lru_cache(maxsize=64)
def _function(target: Target) -> Callable[[np.ndarray], Any]:
    try:
        expression = parse(target.formula, "t", KERNEL_FUNCTIONS)
    except ParameterizationError as error:
        raise TargetError(str(error)) from None
    values = {sympy.Symbol(name, positive=True): sympy.Rational(repr(value)) for name, value in target.values}
    return sympy.lambdify(sympy.Symbol("t", real=True), expression.subs(values), [_PRIMITIVES, "scipy", "numpy"])
