"""Many intervals at once: an expression over arrays of boxes, in float64 with every end rounded outwards.

NumPy's elementary functions are right to a few units in the last place. Every result is widened by far more than that,
so that it contains the exact range of each operation; a result that is not a number becomes the whole line. This is the
fast half of `enclosure.py`, for searches over thousands of boxes.
"""

from collections.abc import Callable

import numpy as np
import sympy
from scipy.special import erf

from stablessm.calculus.enclosure import enclose
from stablessm.calculus.outcomes import Unresolved
from stablessm.calculus.special import Chi, Phi, Psi

Box = tuple[np.ndarray, np.ndarray]
"""Lower and upper ends, arrays of one shape."""

_WIDEN = 64 * np.finfo(np.float64).eps
_TINY = 1e-300
_SMALL = 1e-4
"""Below it chi and psi are enclosed by 1 - s^2 and 1; the closed forms would cancel."""


def evaluator(expression: sympy.Expr, variable: sympy.Symbol) -> Callable[[np.ndarray, np.ndarray], Box]:
    """A function from boxes of the variable to boxes that contain the expression's values there.

    Args:
        expression: elementary functions of the variable, and those of `special.py`; no other symbol.
        variable: its variable.

    Raises:
        Unresolved: it holds a function without a rule.

    Example:
        >>> w = sympy.Symbol("w", real=True)
        >>> low, high = evaluator(w**2 - w, w)(np.array([0.0]), np.array([1.0]))
        >>> bool(low[0] <= -0.25 and high[0] >= 0)
        True
    """
    rule = _compiled(expression, variable)

    def evaluate(low: np.ndarray, high: np.ndarray) -> Box:
        with np.errstate(all="ignore"):
            return rule((np.asarray(low, np.float64), np.asarray(high, np.float64)))

    return evaluate


def _compiled(node: sympy.Expr, variable: sympy.Symbol) -> Callable[[Box], Box]:
    if node == variable:
        return lambda box: box
    if not node.free_symbols:
        value = enclose(node, {})
        low, high = _widened(float(value.a), float(value.b))
        return lambda box: (np.full_like(box[0], low), np.full_like(box[0], high))
    if node.is_Pow and not isinstance(node, sympy.exp):
        return _power(node, variable)
    parts = [_compiled(part, variable) for part in node.args]
    if node.is_Add:
        return lambda box: _folded(_sum, [part(box) for part in parts])
    if node.is_Mul:
        return lambda box: _folded(_product, [part(box) for part in parts])
    if isinstance(node, (sympy.Max, sympy.Min)):
        pick = np.maximum if isinstance(node, sympy.Max) else np.minimum
        return lambda box: _folded(
            lambda one, two: (pick(one[0], two[0]), pick(one[1], two[1])), [p(box) for p in parts]
        )
    try:
        rule = _RULES[node.func]
    except KeyError:
        raise Unresolved(f"no rule for boxes of {node.func.__name__}") from None
    return lambda box: rule(parts[0](box))


def _folded(operation, boxes):
    result = boxes[0]
    for box in boxes[1:]:
        result = operation(result, box)
    return result


def _widened(low, high) -> Box:
    low = low - np.abs(low) * _WIDEN - _TINY
    high = high + np.abs(high) * _WIDEN + _TINY
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _sum(one, two):
    return _widened(one[0] + two[0], one[1] + two[1])


def _product(one, two):
    ends = np.stack([np.nan_to_num(x * y, nan=0.0, posinf=np.inf, neginf=-np.inf) for x in one for y in two])
    unknown = np.any([np.isinf(end) for end in (*one, *two)], axis=0)
    low, high = _widened(ends.min(0), ends.max(0))
    reach = unknown & ((one[0] <= 0) & (one[1] >= 0) | (two[0] <= 0) & (two[1] >= 0))
    return np.where(reach, -np.inf, low), np.where(reach, np.inf, high)


def _inverse(box):
    low, high = box
    crosses = (low <= 0) & (high >= 0)
    low, high = _widened(1 / high, 1 / low)
    return np.where(crosses, -np.inf, low), np.where(crosses, np.inf, high)


def _increasing(function):
    return lambda box: _widened(function(box[0]), function(box[1]))


def _decreasing(function):
    return lambda box: _widened(function(box[1]), function(box[0]))


def _power(node, variable):
    base, exponent = _compiled(node.base, variable), node.exp
    if exponent.is_Integer:
        count = abs(int(exponent))
        raised = (lambda box: _even(box, count)) if count % 2 == 0 else _increasing(lambda x: x**count)
        return (lambda box: raised(base(box))) if exponent > 0 else (lambda box: _inverse(raised(base(box))))
    if exponent.free_symbols:
        power = _compiled(exponent, variable)
        return lambda box: _RULES[sympy.exp](_product(power(box), _RULES[sympy.log](base(box))))
    value = float(exponent)
    monotone = _increasing(lambda x: np.maximum(x, 0) ** value)
    return (
        (lambda box: monotone(base(box)))
        if value > 0
        else (lambda box: _inverse(_increasing(lambda x: np.maximum(x, 0) ** -value)(base(box))))
    )


def _even(box, count):
    ends = np.stack([np.abs(box[0]), np.abs(box[1])])
    low = np.where((box[0] <= 0) & (box[1] >= 0), 0.0, ends.min(0))
    bounds = _widened(low**count, ends.max(0) ** count)
    return np.maximum(bounds[0], 0.0), bounds[1]


def _abs(box):
    ends = np.stack([np.abs(box[0]), np.abs(box[1])])
    return np.where((box[0] <= 0) & (box[1] >= 0), 0.0, ends.min(0)), ends.max(0)


def _cosh(box):
    low, high = _abs(box)
    return _widened(np.cosh(low), np.cosh(high))


def _positive(function):
    """A decreasing function on s >= 0; what lies below 0 by rounding counts as 0."""
    rule = _decreasing(function)

    def bounded(box):
        low, high = rule((np.maximum(box[0], 0.0), np.maximum(box[1], 0.0)))
        return np.maximum(low, 0.0), np.minimum(high, 1.0)

    return bounded


def _phi(s):
    return np.where(s == 0, 1.0, np.where(s > 700, 0.0, s / np.expm1(np.where(s == 0, 1.0, s))))


def _psi(s):
    half = np.where(s < _SMALL, 1.0, np.minimum(s, 700.0)) / 2
    return np.where(s < _SMALL, 1 - s * s / 12, np.where(s > 700, 0.0, (half / np.sinh(half)) ** 2))


def _chi(s):
    safe = np.where(s < _SMALL, 1.0, np.minimum(s, 200.0))
    value = (safe / np.sinh(safe)) ** 3 * np.cosh(safe)
    return np.where(s < _SMALL, 1 - s**4 / 15, np.where(s > 200, 0.0, value))


def _sign(box):
    return np.sign(box[0]), np.sign(box[1])


_RULES = {
    sympy.exp: _increasing(np.exp),
    sympy.log: _increasing(lambda x: np.log(np.maximum(x, 0.0))),
    sympy.tanh: _increasing(np.tanh),
    sympy.sinh: _increasing(np.sinh),
    sympy.cosh: _cosh,
    sympy.erf: _increasing(erf),
    sympy.Abs: _abs,
    sympy.sign: _sign,
    Phi: _positive(_phi),
    Psi: _positive(_psi),
    Chi: _positive(_chi),
}
