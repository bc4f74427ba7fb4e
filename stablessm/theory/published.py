"""The published discrete bound C |f'|/(1 - f)^2 of Theorem 3.4, held against a gradient where f < 0.

For the target q^k and the model f^k with -1 < q < f < 0 the loss sum_k |q^k - f^k| has, for C = 1, the gradient

    |f'| sum_k k |f|^{k-1} = |f'|/(1 - |f|)^2,

since every term of it has the same sign; (1 - f)^2 > (1 - |f|)^2 makes the published bound smaller than that.
"""

from __future__ import annotations

import mpmath
import sympy

from stablessm.calculus.approach import trials
from stablessm.calculus.enclosure import value_at
from stablessm.theory.problem import Problem, W

_WEIGHTS = tuple(sympy.Rational(p, 4) for p in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 8, -8, 12, -12))
_DEEPEST, _SHALLOWEST = mpmath.mpf(-0.95), mpmath.mpf(-0.05)
_STEP, _FLAT = sympy.Rational(1, 10**12), mpmath.mpf(10) ** -6
_TERMS = 3000
_DIGITS = 30


def published_form(problem: Problem) -> str | None:
    """What becomes of the published bound for a map in discrete time: where it fails, or that it is the same."""
    if problem.link == "continuous":
        return None
    if problem.link == "exponential":
        return "f > 0, so that the published (1 - f)^2 is the same"
    weight, values = _negative(problem)
    if weight is None:
        return None
    f, slope = _value_and_slope(problem, values, weight)
    q = (f - 1) / 2
    gradient, published = slope * abs(l1_slope(f, q)), slope / (1 - f) ** 2
    if not gradient > published * (1 + mpmath.mpf(10) ** -6):
        return None
    return (
        f"the published |f'|/(1 - f)^2 fails where f < 0: at w = {float(weight):.6g}, f = {float(f):.6g}, the L1 loss "
        f"against q^k, q = {float(q):.6g}, has the gradient {float(gradient):.6g}, and it gives {float(published):.6g}"
    )


def l1_slope(f: mpmath.mpf, q: mpmath.mpf) -> mpmath.mpf:
    """The derivative of sum_k |q^k - f^k| in f, term by term."""
    with mpmath.workdps(_DIGITS):
        return mpmath.fsum(mpmath.sign(f**k - q**k) * k * f ** (k - 1) for k in range(1, _TERMS))


def _value_and_slope(problem, values, weight):
    """f and |f'|, the latter by a central difference, so that kinks elsewhere do not matter."""
    before, f, after = (value_at(problem.eigenvalue, values | {W: weight + k * _STEP}) for k in (-1, 0, 1))
    return f, abs(after - before) / (2 * mpmath.mpf(_STEP.p) / _STEP.q)


def _negative(problem: Problem) -> tuple[sympy.Expr | None, dict]:
    """A weight, and constants, at which the eigenvalue is stable and well below 0, with a slope."""
    given = dict(problem.values)
    decay = problem.decay.subs(given)
    for trial in trials(decay.free_symbols - {W}, 5):
        for weight in _WEIGHTS:
            try:
                f, slope = _value_and_slope(problem, given | trial, weight)
                if _DEEPEST <= f <= _SHALLOWEST and slope > _FLAT:
                    return weight, given | trial
            except (ArithmeticError, KeyError):
                continue
    return None, {}
