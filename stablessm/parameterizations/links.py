"""Links: how a decay s becomes an eigenvalue, and the views of a map that follow from it without a subtraction.

| link        | time       | eigenvalue     | log eigenvalue         | margin        |
|-------------|------------|----------------|------------------------|---------------|
| continuous  | continuous | -s             | -s (per unit time)     | s             |
| one-minus   | discrete   | 1 - s          | log abs(1 - s), real part | min(s, 2 - s) |
| exponential | discrete   | exp(-s)        | -s                     | 1 - exp(-s)   |

The margin is the distance to instability: to the imaginary axis in continuous time, to the unit circle in discrete.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sympy

LINKS = ("continuous", "one-minus", "exponential")
STEP, FREQUENCY = "step_size", "frequency"


def argument(name: str) -> sympy.Symbol:
    """Return the symbol of a further argument of a view: the step size (positive) or the frequency (real)."""
    import sympy

    return sympy.Symbol(name, positive=True) if name == STEP else sympy.Symbol(name, real=True)


def time_of(link: str) -> str:
    """Return "continuous" or "discrete", the time a link lives in."""
    return "continuous" if link == "continuous" else "discrete"


def _continuous(s: sympy.Expr) -> dict[str, sympy.Expr]:
    import sympy

    from stablessm.parameterizations.primitives import exprel_imag, exprel_real

    step, frequency = argument(STEP), argument(FREQUENCY)
    x, y = -s * step, frequency * step
    return {
        "eigenvalue": -s,
        "log_eigenvalue": -s,
        "margin": s,
        "log_multiplier": x,
        "held_eigenvalue": sympy.exp(x),
        "held_input_real": step * exprel_real(0, x, y),
        "held_input_imag": step * exprel_imag(0, x, y),
        "held_input": step * exprel_real(0, x, sympy.S.Zero),
    }


def _one_minus(s: sympy.Expr) -> dict[str, sympy.Expr]:
    import sympy

    from stablessm.parameterizations.primitives import canonical, log_modulus

    eigenvalue, above = _difference(1, s), _difference(2, s)
    logarithm = canonical(sympy.log(sympy.Abs(eigenvalue)))
    return {
        "eigenvalue": eigenvalue,
        "log_eigenvalue": log_modulus(eigenvalue, s, above) if logarithm.has(sympy.log) else logarithm,
        "margin": sympy.Min(s, above),
    }


def _exponential(s: sympy.Expr) -> dict[str, sympy.Expr]:
    import sympy

    from stablessm.parameterizations.primitives import canonical, expm1, sigmoid

    eigenvalue = canonical(sympy.exp(-s))
    if isinstance(eigenvalue, sympy.exp):
        margin = -expm1(-s)
    elif isinstance(eigenvalue, sigmoid):
        margin = sigmoid(-eigenvalue.args[0])
    else:
        margin = 1 - eigenvalue
    return {"eigenvalue": eigenvalue, "log_eigenvalue": -s, "log_multiplier": -s * argument(STEP), "margin": margin}


def _difference(constant: int, s: sympy.Expr) -> sympy.Expr:
    """Return constant - s in a form that does not cancel: one fraction, or a folded primitive."""
    import sympy

    from stablessm.parameterizations.primitives import canonical

    difference = constant - s
    return canonical(sympy.together(difference) if difference.is_rational_function() else difference)


_VIEWS: dict[str, Callable[[sympy.Expr], dict[str, sympy.Expr]]] = {
    "continuous": _continuous,
    "one-minus": _one_minus,
    "exponential": _exponential,
}


@lru_cache(maxsize=1024)
def views(decay: sympy.Expr, link: str) -> dict[str, sympy.Expr]:
    """Return the expressions of every view of a decay under a link, keyed by view name, `decay` included."""
    from stablessm.parameterizations.primitives import canonical

    decay = canonical(decay)
    return {"decay": decay} | _VIEWS[link](decay)
