"""Exact values of the built-in maps: their definitions written down anew, differentiated, and evaluated in mpmath."""

from __future__ import annotations

from functools import lru_cache

import mpmath
import numpy as np
import sympy

import stablessm

w = sympy.Symbol("w", real=True)
_SOFTPLUS = sympy.log(1 + sympy.exp(w))
DECAYS = {
    "exp": sympy.exp(w),
    "softplus": _SOFTPLUS,
    "best": 1 / (w**2 + sympy.Rational(1, 2)),
    "tanh": 1 - sympy.tanh(w),
    "sigmoid": 1 / (1 + sympy.exp(-w)),
    "square": w**2,
    "relu": sympy.Max(w, 0),
    "clip": sympy.Max(-w, sympy.Rational(1, 10**4)),
}
DIRECT = {"continuous": -w, "one-minus": 1 - w, "exponential": -sympy.log(sympy.Abs(w))}
_TINY = sympy.Rational(1, 10**100)
VIEWS = ("decay", "eigenvalue", "log_eigenvalue", "margin")
MAPS = [
    parameterization.replace(link=link)
    for parameterization in stablessm.PARAMETERIZATIONS.values()
    for link in parameterization.links
]
IDS = [f"{one.name}-{one.link}" for one in MAPS]


def decay(name: str, link: str) -> sympy.Expr:
    """Return s(w) in elementary functions."""
    return DIRECT[link] if name == "direct" else DECAYS[name]


def view(name: str, link: str, which: str) -> sympy.Expr:
    """Return a view of the map, by its definition."""
    s = decay(name, link)
    if which == "decay":
        return s
    if link == "continuous":
        return {"eigenvalue": -s, "log_eigenvalue": -s, "margin": s}[which]
    if link == "one-minus":
        return {"eigenvalue": 1 - s, "log_eigenvalue": sympy.log(sympy.Abs(1 - s)), "margin": sympy.Min(s, 2 - s)}[
            which
        ]
    return {"eigenvalue": sympy.exp(-s), "log_eigenvalue": -s, "margin": 1 - sympy.exp(-s)}[which]


def differentiate(expression: sympy.Expr) -> sympy.Expr:
    """Return the derivative away from kinks."""
    result = expression.diff(w).replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)
    return result.replace(sympy.Derivative, lambda *_: sympy.S.Zero)


def held(name: str, which: str, step_size: float, frequency: float) -> sympy.Expr:
    """Return a factor of zero-order hold, complex: e^(z dt) or (e^(z dt) - 1)/z at z = -s + i frequency."""
    step_size, frequency = sympy.Rational(step_size), sympy.Rational(frequency)
    z = -decay(name, "continuous") + sympy.I * frequency - _TINY  # moves z off 0, where the second is a limit
    return {"eigenvalue": sympy.exp(z * step_size), "input": (sympy.exp(z * step_size) - 1) / z}[which]


@lru_cache(maxsize=4096)
def _function(expression: sympy.Expr):
    table = {"Heaviside": lambda x, *_: mpmath.mpf(x > 0), "sign": mpmath.sign, "Max": max, "Min": min, "Abs": abs}
    return sympy.lambdify(w, expression, [table, "mpmath"])


def _evaluate(expression: sympy.Expr, weight: float) -> mpmath.mpc:
    try:
        return mpmath.mpmathify(_function(expression)(mpmath.mpf(weight)))
    except (ZeroDivisionError, ValueError):  # at a pole
        return mpmath.mpf("nan")


@lru_cache(maxsize=1024)
def exact(expression: sympy.Expr, weights: tuple[float, ...], order: int, digits: int = 160):
    """Return the order-th derivative and its condition number |w f'/f|.

    Args:
        expression: a function of w.
        weights: where; NaN is returned at poles.
        order: of the derivative.
        digits: of the computation, enough for the cancellations of the elementary form.

    Returns:
        (values, condition): complex if the expression is; the condition is capped where the value is 0.
    """
    for _ in range(order):
        expression = differentiate(expression)
    slope = differentiate(expression)
    values, conditions = [], []
    with mpmath.workdps(digits):
        for weight in weights:
            value, change = _evaluate(expression, weight), _evaluate(slope, weight)
            usable = value != 0 and not mpmath.isnan(value) and not mpmath.isnan(change)
            ratio = abs(weight * change / value) if usable else mpmath.mpf(0)
            values.append(complex(value) if isinstance(value, mpmath.mpc) else float(value))
            conditions.append(float(min(ratio, mpmath.mpf(10) ** 30)))
    return np.array(values), np.array(conditions)
