"""Does an expression tend to a claimed limit? Its enclosures on the way there say no, or nothing against it.

Elementary functions of one variable are monotone near an end of their domain, and so is their distance to any number.
A limit found by a symbolic engine is therefore held against rigorous values at weights that approach the point as fast
as 10^(2^n): the distance to a finite limit must go on falling, the size must go on growing towards an infinite one.
This proves nothing, and is asked for beside a derivation, never instead of one.
"""

from itertools import pairwise

import mpmath
import sympy
from mpmath import iv

from stablessm.calculus.enclosure import DIGITS, enclose

TRIAL_VALUES = tuple(sympy.Rational(*pair) for pair in ((1, 1), (3, 7), (11, 4), (1, 50), (40, 1)))
"""Positive numbers tried for constants without a value."""

_POWERS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_DISTANCES = [sympy.Integer(n) for n in (2, 3, 5)] + [sympy.Integer(10) ** k for k in _POWERS]
_DISTANCES = sorted([*_DISTANCES, *map(sympy.Integer, (20, 30, 50, 300))])
_STEADY = mpmath.mpf("0.95")
"""Ratio of neighbouring distances from which on they no longer count as falling: log log w still passes."""


def trials(symbols: set[sympy.Symbol], number: int) -> list[dict[sympy.Symbol, sympy.Rational]]:
    """A few assignments of positive numbers to constants; one empty assignment where there are none."""
    constants = sorted(symbols, key=str)
    size = len(TRIAL_VALUES)
    return [
        {c: TRIAL_VALUES[(shift + 2 * i) % size] for i, c in enumerate(constants)}
        for shift in range(number if constants else 1)
    ]


def contradicts(
    expression: sympy.Expr,
    variable: sympy.Symbol,
    point: sympy.Expr,
    side: str,
    value: sympy.Expr,
    values: dict[sympy.Symbol, sympy.Expr] | None = None,
) -> bool | None:
    """Whether enclosures speak against `value` as the one-sided limit; None where too few could be computed.

    Args:
        expression: an expression of the variable and positive constants.
        variable: what tends to the point.
        point: where it tends; may be infinite.
        side: "+" from above, "-" from below, for a finite point.
        value: the claimed limit; may be infinite.
        values: values of the constants; a few trial values each by default.
    """
    constants = (expression.free_symbols | point.free_symbols | value.free_symbols) - {variable}
    cases = trials(constants, len(TRIAL_VALUES)) if values is None else [values]
    answers = [_contradicts_at(expression, variable, point, side, value, case) for case in cases]
    return True if True in answers else False if False in answers else None


def _contradicts_at(expression, variable, point, side, value, values):
    infinite = value in (sympy.oo, -sympy.oo)
    before, iv.dps = iv.dps, DIGITS
    try:
        target = iv.mpf(0) if infinite else enclose(value, values)
        seen = []
        for step in reversed(_DISTANCES):  # the three farthest that can be computed decide
            if len(seen) == 3:
                break
            try:
                found = enclose(expression, values | {variable: _place(point, side, step)})
            except ArithmeticError:
                continue
            gap = found if infinite else abs(found - target)
            if infinite or gap.delta <= max(abs(found).b, abs(target).b) / mpmath.mpf(10) ** (DIGITS // 2):
                seen.append(gap if value is not -sympy.oo else -gap)
    except ArithmeticError:
        return None
    finally:
        iv.dps = before
    seen.reverse()
    if len(seen) < 2:
        return None
    pairs = list(pairwise(seen))
    if infinite:
        return not all(near.a > 0 and near.b <= _STEADY * far.a for near, far in pairs)
    arrived = seen[-1].b <= mpmath.mpf(10) ** (-DIGITS // 2) * max(1, abs(target).b)
    return not (arrived or all(far.b <= _STEADY * near.a for near, far in pairs))


def _place(point, side, step):
    if point in (sympy.oo, -sympy.oo):
        return step if point is sympy.oo else -step
    return point + 1 / step if side == "+" else point - 1 / step
