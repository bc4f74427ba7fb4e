"""Statement `gradient_scale`: by how much the map stretches the gradient of the loss (Theorem 3.4).

    |dLoss/dw| <= C |f'(w)| / f(w)^2          continuous time
    |dLoss/dw| <= C |f'(w)| / (1 - |f(w)|)^2  discrete time

with C independent of the map. The discrete form holds for both signs of lambda = f(w); the published one, with 1 - f,
fails where lambda < 0. The scale is given as a function of w and, where the decay can be inverted, of the decay s: then
maps are compared at equal memory. `proved` means: derived symbolically from the formula, and equal to a finite
difference of the formula itself to 20 digits at points of every piece.
"""

import mpmath
import sympy
from mpmath import iv

from stablessm.calculus.approach import trials
from stablessm.calculus.enclosure import DIGITS, enclose, value_at
from stablessm.calculus.limits import normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.domain import Cell
from stablessm.theory.inverse import inverse_of
from stablessm.theory.pieces import pieces_of
from stablessm.theory.problem import Problem, S, W
from stablessm.theory.signs import inner_points, sign_on
from stablessm.theory.statement import Statement

FORMS = {"continuous": "|f'|/f^2", "one-minus": "|f'|/(1 - |f|)^2", "exponential": "|f'|/(1 - |f|)^2"}
"""How the scale is written under each link."""

_STEP = sympy.Rational(1, 10**12)
AGREEMENT = 20
"""Digits to which the closed form and the finite difference must agree."""


def scale_of(cell: Cell) -> sympy.Expr:
    """f'/margin^2 on a cell, with the sign of s'; its modulus is the gradient scale."""
    return normal(cell.slope() / cell.margin() ** 2)


def scale_cells(problem: Problem) -> list[Cell]:
    """The smooth pieces on which a scale exists, one per branch of the margin that may occur.

    Raises:
        Undecided: the formula could not be cut into smooth pieces.
    """
    cells = []
    for piece in pieces_of(problem.decay, W, restrictions=problem.restrictions):
        if piece.expression is None or sign_on(piece.expression, W, piece.lower, piece.upper) in (0, -1):
            continue
        branches = {"continuous": ["s"], "exponential": ["exp"], "one-minus": ["s", "2-s"]}[problem.link]
        if problem.link == "one-minus":
            below_one = sign_on(1 - piece.expression, W, piece.lower, piece.upper)
            branches = ["s"] if below_one in (0, 1) else ["2-s"] if below_one == -1 else branches
        cells += [Cell(piece.lower, piece.upper, piece.expression, branch) for branch in branches]
    return cells


def modulus_on(cell: Cell, expression: sympy.Expr) -> sympy.Expr:
    """|expression| on a cell, factor by factor, without the bars where a sign is known."""
    modulus = sympy.Integer(1)
    for factor in sympy.Mul.make_args(normal(expression)):
        base, power = (factor, 1) if isinstance(factor, sympy.exp) else factor.as_base_exp()
        sign = sign_on(factor, W, cell.lower, cell.upper)
        even = isinstance(power, sympy.Integer) and power % 2 == 0
        modulus *= factor if even else sign * factor if sign else sympy.Abs(base) ** power
    return tidy(modulus)


def as_function_of_decay(cell: Cell) -> sympy.Expr | None:
    """The scale as a function of s, or None where the decay is not inverted."""
    try:
        weight = inverse_of(cell.decay)
    except Undecided:
        return None
    # The sign of s'(w(s)) is the branch's, not the map's: only the modulus counts.
    slope = sympy.diff(cell.decay, W).subs(W, weight)
    if cell.branch == "exp":
        slope = slope * sympy.exp(-S)
    scale = tidy(sympy.simplify(slope / cell.margin(S) ** 2))
    if _sampled_sign(cell, scale) == -1:
        scale = tidy(-scale)
    return scale if _agrees_on(cell, scale.subs(S, cell.decay), scale_of(cell)) else None


def gradient_scale(problem: Problem) -> Statement:
    """Derive the gradient scale in closed form and check it against finite differences."""
    cells = scale_cells(problem)
    if not cells:
        return Statement("gradient_scale", "undecided", "tried: a weight with a positive decay; there is none")
    lines: dict[str, list[str]] = {}
    for cell in cells:
        scale = scale_of(cell)
        if not _agrees_on(cell, scale, None):
            return Statement(
                "gradient_scale", "undecided", problem.rename(f"tried: {scale} against finite differences")
            )
        shown = problem.text(modulus_on(cell, scale))
        by_decay = as_function_of_decay(cell) if scale != 0 else None
        if by_decay is not None and problem.text(by_decay) != shown:
            shown += f" = {problem.text(by_decay)}"
        lines.setdefault(shown, []).append(_where(problem, cell, cells))
    everywhere = len(lines) == 1 and len(cells) == 1
    shown = "; ".join(line if everywhere else f"{line} {' and '.join(where)}" for line, where in lines.items())
    return Statement("gradient_scale", "proved", f"{FORMS[problem.link]} = {shown}")


def _where(problem, cell, cells) -> str:
    parts = []
    if (cell.lower, cell.upper) != (-sympy.oo, sympy.oo):
        parts.append(problem.text(cell.lower) + " < w < " + problem.text(cell.upper))
    if len({other.branch for other in cells}) > 1:
        parts.append("s <= 1" if cell.branch == "s" else "1 <= s < 2")
    return "where " + " and ".join(parts)


def _points(cell: Cell):
    """Exact weights inside a cell with exact constants: (weight, values)."""
    symbols = cell.decay.free_symbols | cell.lower.free_symbols | cell.upper.free_symbols
    constants = symbols - {W}
    for values in trials(constants, 3):
        for point in inner_points(cell.lower, cell.upper):
            yield point.subs(values), values


def _sampled_sign(cell, scale):
    for point, values in _points(cell):
        try:
            return 1 if value_at(scale.subs(S, cell.decay), values | {W: point}) >= 0 else -1
        except ArithmeticError:
            continue
    return 1


def _agrees_on(cell, first, second) -> bool:
    """Whether two scales have equal moduli at points of a cell; without a second, finite differences stand for it."""
    compared = 0
    before, iv.dps = iv.dps, DIGITS
    try:
        for point, values in _points(cell):
            at = values | {W: point}
            try:
                left = enclose(first, at)
                right = _differenced(cell, point, values) if second is None else enclose(second, at)
            except ArithmeticError:
                continue
            size, gap = (abs(left) + abs(right)).b, abs(left) - abs(right)
            tiny = mpmath.mpf(10) ** -(DIGITS // 2)
            if max(left.delta, right.delta) > max(size / 10**AGREEMENT, tiny):
                continue  # cancellation: the point says nothing at this precision
            if gap.b < -max(size / 10**AGREEMENT, tiny) or gap.a > max(size / 10**AGREEMENT, tiny):
                return False
            compared += 1
    finally:
        iv.dps = before
    return compared > 0


def _differenced(cell, point, values):
    """The scale from the decay alone: a fourth-order central difference, error of order step^4."""
    near = [enclose(cell.decay, values | {W: point + k * _STEP}) for k in (-2, -1, 1, 2)]
    slope = (8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * enclose(_STEP, {}))
    decay = enclose(cell.decay, values | {W: point})
    factor = sympy.exp(-S) if cell.branch == "exp" else sympy.Integer(1)
    return slope * enclose(factor / cell.margin(S) ** 2, {S: decay})
