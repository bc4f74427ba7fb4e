"""The least g of Definition 3.2 at one beta, between two numbers, where it has no closed form.

    ln(1 + g(beta)) = max of ln m(w) - ln m(w + d) over w and |d| <= beta.

Boxes of (w, d) are halved until the bounds meet. A box over which the difference moves with d in one direction is
dropped unless it lies at the end d = beta or -beta it moves to. Where w is far out, the difference is at most beta
times the largest slope of ln m there.
"""

import math

import numpy as np
import sympy

from stablessm.calculus.boxes import evaluator
from stablessm.calculus.enclosure import enclose
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounds import Bound
from stablessm.theory.ends import near_end
from stablessm.theory.problem import Problem, W
from stablessm.theory.quantities import quantities_of
from stablessm.theory.suprema import REACHES, Enclosed, above

_INFINITE = (sympy.oo, -sympy.oo)
_TOLERANCE = 1e-5
_COLUMNS, _ROWS, _MOST, _ROUNDS = 256, 8, 60_000, 40


def least_at(problem: Problem, beta: float, bound: Bound) -> Enclosed:
    """g(beta) between two numbers; the weight is where the lower one is attained.

    Args:
        problem: a map without constants, its stable set the whole line.
        beta: the size of the perturbation.
        bound: what is known of m'/m: its limits count as slopes that are approached.

    Raises:
        Undecided: the slope at infinity could not be enclosed.
    """
    log_margin = _log_margin(problem)
    slopes = _slopes(problem)
    limits = [limit for _, point, _, limit in bound.limits if point in _INFINITE and limit not in _INFINITE]
    approached = max((float(abs(enclose(limit, {})).a) for limit in limits), default=0.0)
    known, best = approached * beta, None
    for reach in REACHES:
        try:
            outside = math.nextafter(beta * _slope_beyond(problem, reach - math.ceil(beta) - 1), math.inf)
            core = _core(log_margin, slopes, beta, float(reach), known)
        except Undecided:
            if best is None:
                raise
            break
        if best is None or max(core.upper, outside) < best.upper:
            best = Enclosed(max(core.lower, known), max(core.upper, outside, known), core.weight)
        if best.upper <= best.lower * (1 + _TOLERANCE):
            break
    return Enclosed(math.expm1(best.lower) * (1 - 1e-12), math.expm1(best.upper) * (1 + 1e-12), best.weight)


def _log_margin(problem):
    s = problem.decay
    if problem.link == "exponential":
        # ln(1 - e^{-s}) increases with s, and expm1 has no cancellation.
        decay = evaluator(s, W)

        def log_margin(low, high):
            ends = [np.maximum(end, 0.0) for end in decay(low, high)]
            with np.errstate(divide="ignore"):
                logs = [np.log(-np.expm1(-end)) for end in ends]
            return logs[0] - np.abs(logs[0]) * 1e-14, logs[1] + np.abs(logs[1]) * 1e-14

        return log_margin
    return evaluator(sympy.log(sympy.Min(s, 2 - s) if problem.link == "one-minus" else s), W)


def _slopes(problem):
    """m'/m over boxes: the hull over the cells that a box meets."""
    cells = []
    for piece in quantities_of(problem, "modulus"):
        ends = [float(end) for end in (piece.lower, piece.upper)]
        cells.append((*ends, evaluator(piece.enclosable, W)))

    def slope(low, high):
        bottom, top = np.full_like(low, np.inf), np.full_like(low, -np.inf)
        for lower, upper, evaluate in cells:
            meets = (high >= lower) & (low <= upper)
            found = evaluate(np.clip(low, lower, upper), np.clip(high, lower, upper))
            bottom = np.where(meets, np.minimum(bottom, found[0]), bottom)
            top = np.where(meets, np.maximum(top, found[1]), top)
        return bottom, top

    return slope


def _slope_beyond(problem, reach) -> float:
    """A bound of |m'/m| for |w| > reach; 0 where the margin is constant."""
    largest = 0.0
    for piece in quantities_of(problem, "modulus"):
        for end, side in ((piece.lower, "+"), (piece.upper, "-")):
            if end in _INFINITE and piece.enclosable != 0:
                place = sympy.Integer(reach if end is sympy.oo else -reach)
                if not piece.lower < place < piece.upper:
                    raise Undecided("a piece that begins beyond the reach of the search")
                low, high = near_end(piece.enclosable, end, side, place)
                largest = max(largest, above(-low), above(high))
    return largest


def _core(log_margin, slopes, beta, reach, known) -> Enclosed:
    across, along = np.linspace(-reach, reach, _COLUMNS + 1), np.linspace(-beta, beta, _ROWS + 1)
    left, low = (grid.ravel() for grid in np.meshgrid(across[:-1], along[:-1]))
    right, high = (grid.ravel() for grid in np.meshgrid(across[1:], along[1:]))
    own, weight, upper = 0.0, math.nan, math.inf
    for _ in range(_ROUNDS):
        middle, step = (left + right) / 2, np.where(low <= -beta, low, np.where(high >= beta, high, (low + high) / 2))
        at = log_margin(middle, middle)[0] - log_margin(middle + step, middle + step)[1]
        place = int(np.argmax(at))
        if at[place] > own:
            own, weight = float(at[place]), float(middle[place])
        over = _difference(log_margin, left, right, low, high, slopes)
        falls, grows = slopes(left + low, right + high)
        inner = ((falls > 0) & (low > -beta)) | ((grows < 0) & (high < beta))
        kept = (over > max(own, known)) & ~inner
        upper = float(over[kept].max()) if kept.any() else max(own, known)
        if upper <= max(own, known) * (1 + _TOLERANCE) or kept.sum() > _MOST:
            break
        left, right, low, high = (ends[kept] for ends in (left, right, low, high))
        wide = (right - left) >= (high - low)
        middle, half = (left + right) / 2, (low + high) / 2
        left, right, low, high = (
            np.concatenate([left, np.where(wide, middle, left)]),
            np.concatenate([np.where(wide, middle, right), right]),
            np.concatenate([low, np.where(wide, low, half)]),
            np.concatenate([np.where(wide, high, half), high]),
        )
    if not math.isfinite(upper):
        raise Undecided(f"bounds of the margin for |w| < {reach:g}")
    return Enclosed(own, max(upper, own), weight)


def _difference(log_margin, left, right, low, high, slopes):
    """An upper bound of ln m(w) - ln m(w + d) over boxes: the plain one, and -d times the slope between the two."""
    plain = log_margin(left, right)[1] - log_margin(left + low, right + high)[0]
    bottom, top = slopes(left + np.minimum(low, 0), right + np.maximum(high, 0))
    with np.errstate(invalid="ignore"):  # 0 times an infinite slope: the plain bound stands
        products = np.stack([-low * bottom, -low * top, -high * bottom, -high * top])
    return np.fmin(plain, np.where(np.isnan(products).any(0), np.inf, products.max(0)))
