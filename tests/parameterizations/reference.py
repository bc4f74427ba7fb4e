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


@lru_cache(maxsize=4096)
def _function(expression: sympy.Expr):
    table = {"Heaviside": lambda x, *_: mpmath.mpf(x > 0), "sign": mpmath.sign, "Max": max, "Min": min, "Abs": abs}
    return sympy.lambdify(w, expression, [table, "mpmath"])


def _evaluate(expression: sympy.Expr, weight: float) -> mpmath.mpf:
    try:
        return mpmath.mpf(_function(expression)(mpmath.mpf(weight)))
    except ZeroDivisionError:
        return mpmath.nan
    except ValueError:  # log(0)
        return -mpmath.inf


@lru_cache(maxsize=1024)
def exact(expression: sympy.Expr, weights: tuple[float, ...], order: int, digits: int = 160):
    """Return (values, condition) of the order-th derivative: |w f'/f|, capped where f vanishes."""
    for _ in range(order):
        expression = differentiate(expression)
    slope = differentiate(expression)
    values, conditions = [], []
    with mpmath.workdps(digits):
        for weight in weights:
            value, change = _evaluate(expression, weight), _evaluate(slope, weight)
            ratio = abs(weight * change / value) if value and mpmath.isfinite(value) else mpmath.mpf(0)
            values.append(float(value))
            conditions.append(float(min(ratio, mpmath.mpf(10) ** 30)) if not mpmath.isnan(ratio) else 0.0)
    return np.array(values), np.array(conditions)
