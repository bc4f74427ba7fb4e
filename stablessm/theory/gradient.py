"""Statement `gradient_scale`: by how much the map stretches the gradient of the loss (Theorem 3.4).

    |dLoss/dw| <= C |f'(w)| / f(w)^2          continuous time
    |dLoss/dw| <= C |f'(w)| / (1 - |f(w)|)^2  discrete time

with C independent of the map. The discrete form holds for both signs of lambda = f(w); the published one, with 1 - f,
fails where lambda < 0. The scale is given as a function of w and, where the decay can be inverted, of the decay s: then
maps are compared at equal memory. `proved` means: derived symbolically from the formula, and equal to a finite
difference of the formula itself to 20 digits at points of every piece.

Input normalisation multiplies the input weight by gamma(lambda): C then holds gamma, and the scale is multiplied by it
(gamma = |f|: unit gain in continuous time; gamma = sqrt(1 - f^2): unit variance of the state, as in the LRU).
"""

from functools import lru_cache

import mpmath
import sympy
from mpmath import iv

from stablessm.calculus.approach import trials
from stablessm.calculus.enclosure import DIGITS, enclose, value_at
from stablessm.calculus.limits import normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.derivation import interval, note
from stablessm.theory.domain import Cell
from stablessm.theory.inverse import inverse_of
from stablessm.theory.pieces import pieces_of
from stablessm.theory.problem import Problem, S, W
from stablessm.theory.published import published_form
from stablessm.theory.signs import inner_points, sign_on
from stablessm.theory.statement import Statement

FORMS = {"continuous": "|f'|/f^2", "one-minus": "|f'|/(1 - |f|)^2", "exponential": "|f'|/(1 - |f|)^2"}
"""How the scale is written under each link."""

COMPLEX = {
    "continuous": "complex lambda with this real part: |f'|/Re(lambda)^2, whatever its phase",
    "one-minus": "complex lambda with this modulus: the same, whatever its phase",
    "exponential": "complex lambda with this modulus: the same, whatever its phase",
}
"""What the scale is where the map gives the decay and a second weight the phase."""

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
            if sign_on(2 - piece.expression, W, piece.lower, piece.upper) in (0, -1):
                continue
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


@lru_cache(maxsize=64)
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
    return scale if agree_on(cell, scale.subs(S, cell.decay), scale_of(cell)) else None


def over_weight_by_decay(problem: Problem, cells: list[Cell]) -> str:
    """The scale divided by |w(s)| as functions of s, in words; nothing where the decay is not inverted."""
    shown = []
    for cell in cells:
        scale = as_function_of_decay(cell) if scale_of(cell) != 0 else None
        if scale is not None:
            weight = inverse_of(cell.decay)
            parts = sympy.Mul.make_args(weight)
            size = sympy.Mul(*(part if part.is_positive or _is_root(part) else sympy.Abs(part) for part in parts))
            ratio = tidy(scale / size)
            if not agree_on(cell, ratio.subs(S, cell.decay), scale_of(cell) / W):
                return ""  # two weights of different size at one s
            shown.append(problem.text(ratio))
    return f"as function of s: {' or '.join(dict.fromkeys(shown))}" if shown else ""


def _is_root(factor: sympy.Expr) -> bool:
    """Whether a factor of a real weight is a root, hence not negative."""
    return bool(factor.is_Pow and factor.exp.is_Rational and not factor.exp.is_Integer)


def gradient_scale(problem: Problem) -> Statement:
    """Derive the gradient scale in closed form and check it against finite differences."""
    cells = scale_cells(problem)
    if not cells:
        return Statement("gradient_scale", "undecided", "tried: a weight with a positive decay; there is none")
    lines: dict[str, list[str]] = {}
    for cell in cells:
        scale = scale_of(cell)
        if not agree_on(cell, scale, None):
            return Statement(
                "gradient_scale", "undecided", problem.rename(f"tried: {scale} against finite differences")
            )
        shown = problem.text(modulus_on(cell, scale))
        _note_scale(problem, cell, scale)
        by_decay = as_function_of_decay(cell) if scale != 0 else None
        if by_decay is not None and problem.text(by_decay) != shown:
            shown += f" = {problem.text(by_decay)}"
        lines.setdefault(shown, []).append(_where(problem, cell, cells))
    everywhere = len(lines) == 1 and len(cells) == 1
    shown = "; ".join(line if everywhere else f"{line} {' and '.join(where)}" for line, where in lines.items())
    notes = [*_normalised(problem, cells), published_form(problem), COMPLEX[problem.link]]
    return Statement("gradient_scale", "proved", "; ".join([f"{FORMS[problem.link]} = {shown}", *filter(None, notes)]))


def _note_scale(problem: Problem, cell: Cell, scale: sympy.Expr) -> None:
    where, ends = interval(problem, cell.lower, cell.upper)
    note(problem, "$|dL/dw| <= C |f'|/m^2$, $m$ the margin: $|f|$, in discrete time $1 - |f|$")
    note(problem, f"$m = {{}}$ and, up to sign, $f' = {{}}${where}", cell.margin(), cell.slope(), *ends)
    note(problem, "hence, up to sign, $f'/m^2 = {}$, which finite differences confirm to 20 digits", scale)
    try:
        note(problem, "$s = s(w)$ is solved by $w = {}$", inverse_of(cell.decay))
    except Undecided:
        return
    by_decay = as_function_of_decay(cell) if scale != 0 else None
    if by_decay is not None:
        note(problem, "put in, that is ${}$", by_decay)


def _normalised(problem: Problem, cells: list[Cell]) -> list[str]:
    """The scale where the input is multiplied by gamma(lambda), which then is part of C, as a function of s."""
    q = problem.eigenvalue_of(S)
    gain = {"continuous": S, "one-minus": sympy.sqrt(S * (2 - S))}.get(problem.link, sympy.sqrt(1 - q**2))
    name = "gamma = |f|" if problem.link == "continuous" else "gamma = sqrt(1 - f^2)"
    scales = [as_function_of_decay(cell) for cell in cells if scale_of(cell) != 0]
    scales = [scale * gain for scale in scales if scale is not None]
    shown = [problem.text(tidy(scale) if problem.link == "continuous" else scale) for scale in scales]
    return [f"with the input normalised by {name}: {' or '.join(dict.fromkeys(shown))}"] if shown else []


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


def agree_on(cell, first, second) -> bool:
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
