"""Where Definition 3.2 fails: two weights at a fixed distance whose margins have a ratio above every bound."""

import mpmath
import sympy

from stablessm.calculus.enclosure import value_at
from stablessm.theory.bounds import LARGE, BlowUp, Bound
from stablessm.theory.domain import Cell
from stablessm.theory.problem import Problem, W

_INFINITE = (sympy.oo, -sympy.oo)


def failing_pair(
    case: Problem, cells: tuple[Cell, ...], found: Bound, values: dict, edges: list[sympy.Expr]
) -> str | None:
    """The pair in words, checked by interval arithmetic, with the sequence along which the ratio grows.

    Args:
        case: the problem that was refuted.
        cells: its stable cells.
        found: the slope of ln m, with where it is infinite.
        values: values of the constants.
        edges: finite ends of the stable set.

    Returns:
        None where no such pair was found: the slope may grow too slowly for numbers to show it.
    """
    for blow_up in found.blow_ups:
        cell = next(c for c in cells if (c.lower, c.upper) == (blow_up.quantity.lower, blow_up.quantity.upper))
        distance = _distance(cell, values)
        best = None
        for near in blow_up.weights(values):
            pair = _pair(blow_up, cell, near, distance, values)
            if pair is not None and (best is None or pair[0] > best[0]):
                best = pair
            if best is not None and best[0] > LARGE:
                break
        if best is not None and best[0] > 2:
            ratio, weight, other = best
            end = case.text(blow_up.point) + ("" if blow_up.point in _INFINITE else blow_up.side)
            moving, fixed = ("w", "w~") if other == _far(blow_up, weight, other) else ("w~", "w")
            return (
                f"|m(w)/m(w~) - 1| = {mpmath.nstr(ratio - 1, 3)} at w = {float(weight):.10g}, w~ = {float(other):.10g},"
                f" m the margin, and it grows without bound as {moving} -> {end}, {fixed} at the distance {distance}"
            )
    if edges:
        return f"the map is not stable beyond w = {case.text(edges[0])}, and perturbations of any size lead there"
    return None


def _distance(cell, values):
    lower, upper = cell.lower.subs(values), cell.upper.subs(values)
    length = upper - lower
    return next((step for step in (sympy.Integer(1), sympy.Rational(1, 10)) if length > 2 * step), length / 2)


def _pair(blow_up: BlowUp, cell: Cell, near, distance, values):
    """(m(w)/m(w~) > 1, w, w~) for the weight near the point and one at the distance, inside the cell."""
    low = blow_up.point is -sympy.oo if blow_up.point in _INFINITE else blow_up.side == "+"
    inwards = 1 if low else -1
    far = near + inwards * distance
    if not cell.lower.subs(values) < far < cell.upper.subs(values):
        return None
    try:
        sizes = [value_at(cell.margin(), values | {W: weight}) for weight in (near, far)]
    except ArithmeticError:
        return None
    if min(sizes) <= 0:
        return None
    return (sizes[0] / sizes[1], near, far) if sizes[0] > sizes[1] else (sizes[1] / sizes[0], far, near)


def _far(blow_up, first, second):
    """Of two weights the one farther from where the slope is infinite."""
    if blow_up.point is sympy.oo:
        return min(first, second)
    if blow_up.point is -sympy.oo:
        return max(first, second)
    return max(first, second) if blow_up.side == "+" else min(first, second)
