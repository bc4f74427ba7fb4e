"""Statement `modulus`: Definition 3.2, stable reparameterization.

With margin m (|f| in continuous, 1 - |f| in discrete time) the definition asks for a continuous g with g(0) = 0 and

    sup_w sup_{|w~ - w| <= beta} |m(w)/m(w~) - 1| <= g(beta),

that is, for ln m to be uniformly continuous; the least g is e^omega - 1, omega its modulus of continuity. (For two
stable real modes the integral of |e^{f~ t} - e^{f t}| is |1/f~ - 1/f|.) Four theorems decide it:

1. If K = sup |m'/m| is finite then omega(beta) <= K beta. If |m'/m| has the limit K at infinity, or is K there, then
   omega(beta) = K beta: the difference of ln m over an interval of length beta that moves to infinity tends to K beta.
2. If m -> 0 at a finite weight, or |m'/m| -> oo at infinity, no g exists: by the mean value theorem the difference of
   ln m over an interval of fixed length grows without bound.
3. If |m'/m| is infinite at finite weights only, where m is continuous and not 0, then ln m is uniformly continuous: it
   is so on a compact interval around these weights by continuity, and outside it by theorem 1.

4. Under the exponential link |m'/m| = |s'/s| phi(s) with phi(s) = s/(e^s - 1) in (0, 1) and phi(0) = 1. Hence K is at
   most that of the continuous link, and equal to it where that is a limit at infinity with s -> 0.

The least g is then found in closed form (least.py); where it is not, it is enclosed at a few beta
(oscillation.py), and the bound e^{K beta} - 1 stands. Under the link
1 - s a closed form may hold while lambda >= 0 only; then that condition is said.
"""

from dataclasses import replace
from functools import lru_cache

import sympy

from stablessm.calculus.limits import limit_at
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounded import at_values, bounded
from stablessm.theory.bounds import Bound, Quantity, limits_of
from stablessm.theory.budget import secure
from stablessm.theory.closed import with_supremum
from stablessm.theory.derivation import note
from stablessm.theory.domain import Cell, stable_cells, under_positive_eigenvalues
from stablessm.theory.failure import failing_pair
from stablessm.theory.jumps import jump_of
from stablessm.theory.least import BETA, Least, by_slope, largest_ratio
from stablessm.theory.oscillation import least_at
from stablessm.theory.problem import Problem, W
from stablessm.theory.quantities import quantities_of
from stablessm.theory.signs import constant_sign
from stablessm.theory.spotcheck import values_in
from stablessm.theory.statement import Statement

_BETAS = (0.1, 0.5, 1.0)
"""Where g is enclosed if it has no closed form."""

_INFINITE = (sympy.oo, -sympy.oo)
_NAME = {"continuous": "|f'/f|", "one-minus": "|f'|/(1 - |f|)", "exponential": "|f'|/(1 - |f|)"}


def modulus(problem: Problem) -> Statement:
    """Is the map a stable reparameterization in the sense of Definition 3.2, and with which modulus?"""
    if problem.link == "continuous":
        note(problem, "the integral of Definition 3.2 is $|1/f(w~) - 1/f(w)|$ for $f < 0$; it asks for a bound of "
                      "$|m(w)/m(w~) - 1|$ with the margin $m = |f|$")  # fmt: skip
    else:
        note(problem, "Definition 3.2 asks for a bound of $|m(w)/m(w~) - 1|$ with the margin $m = 1 - |f|$")
    note(problem, "such a $g$ exists exactly if $ln m$ is uniformly continuous; a bound of its slope is enough")
    seen: list[tuple[Problem, tuple[Cell, ...], Bound]] = []

    def quantities(case):
        cells, slopes, found = _slopes(case)
        harmful = [one for one in found.blow_ups if not _is_harmless(cells, one)]
        if found.blow_ups and not harmful:
            raise Undecided(f"a bound for {_NAME[case.link]}, which is infinite at weights where the margin is not")
        edges = _edges(cells)
        if edges and not harmful:
            raise Undecided(f"perturbations of the weight beyond {edges[0]}, where the map is not stable")
        seen.append((case, cells, found))
        return _NAME[case.link], slopes

    statement = _by_continuity(problem) or bounded("modulus", problem, quantities)
    if statement.verdict == "proved":
        secure(statement)
        return _with_least(problem, statement, seen)
    if statement.verdict == "refuted" and seen:
        return _with_failure(problem, statement, *seen[-1])
    return statement


@lru_cache(maxsize=16)
def _slopes(case: Problem) -> tuple[tuple[Cell, ...], list[Quantity], Bound]:
    cells = stable_cells(case)
    if jump_of(cells, lambda cell: cell.margin()) is not None:
        raise Undecided("the modulus of a margin that jumps")
    slopes = quantities_of(case, "modulus")
    return cells, slopes, limits_of(slopes)


@lru_cache(maxsize=16)
def _largest_slope(found: Bound) -> Bound:
    return with_supremum(found)


def _edges(cells: tuple[Cell, ...]) -> list[sympy.Expr]:
    """Finite ends of the stable set: a perturbation that crosses one leaves it, so that no g exists."""
    ends = [(cell.lower, cell.upper) for cell in cells]
    edges = []
    for own in ends:
        for point in own:
            inner = any(constant_sign(point - other) == 0 for pair in ends if pair != own for other in pair)
            if point not in _INFINITE and not inner:
                edges.append(point)
    return edges


def _is_harmless(cells, blow_up) -> bool:
    """Whether an infinite slope lies where the margin is continuous and not 0 (theorem 3), and says nothing."""
    point = blow_up.point
    if point in _INFINITE or point in _edges(cells):
        return False
    cell = next(c for c in cells if (c.lower, c.upper) == (blow_up.quantity.lower, blow_up.quantity.upper))
    margin = limit_at(cell.margin(), W, point, blow_up.side)
    sign = 1 if margin in _INFINITE else constant_sign(margin)
    if sign is None:
        raise Undecided(f"whether the margin is 0 at {point}, where the slope is infinite")
    return margin not in _INFINITE and sign != 0


def _by_continuity(problem: Problem) -> Statement | None:
    """Theorem 3, where it applies."""
    for case in dict.fromkeys((problem, problem.specialised())):
        try:
            cells, _, found = _slopes(case)
            harmless = [one for one in found.blow_ups if _is_harmless(cells, one)]
            if not harmless or len(harmless) < len(found.blow_ups) or _edges(cells):
                continue
        except Undecided:
            continue
        points = ", ".join(dict.fromkeys(problem.text(one.point) for one in harmless))
        shown = (
            f"ln m, m the margin, is continuous; {_NAME[case.link]} is infinite at w = {points} only and bounded "
            "away from there, so that ln m is uniformly continuous"
        )
        names = ", ".join(f"{symbol} > 0" for symbol in case.constants)
        return Statement("modulus", "proved", shown, problem.rename(f"all {names}") if names else None)
    return None


def _with_least(problem: Problem, statement: Statement, seen: list) -> Statement:
    """The statement with the least g, or with the bound that the slope gives."""
    given = dict(problem.values)
    bound = _bound_text(seen[-1][0], _largest_slope(seen[-1][2])) if seen else None
    for case, _, _ in seen:
        least = _by_decay(case)
        if least is not None:
            note(case, "$|m'/m| = |s'/s| phi(s)$ with $phi(s) = s/(e^s - 1) < 1$: the continuous link's bound holds")
            size, end = (case.text(part) for part in (sympy.log(least.ratio) / BETA, least.weight))
            shown = f"g(beta) = {case.text(least.growth())}; {least.where(case)}; sup of {_NAME[case.link]} = {size}"
            return replace(statement, expression=f"{shown}, as w -> {end}", method="symbolic")
    for case, condition, applies in _cases(problem, seen, given):
        least = _least(case, seen)
        if least is None:
            continue
        note(case, "the largest quotient at distance $beta$ is ${}$", least.ratio)
        shown = f"g(beta) = {case.text(least.growth())}"
        if condition:
            shown += f" for {condition}, where lambda >= 0"
        shown += f"; {least.where(case)}"
        statement = statement.preceded(shown)
        if applies:
            return statement
    numbers = _numbers(problem, at_values(seen[-1][2], values_in(seen[-1][0], given)) if seen else Bound(()))
    if numbers:
        statement = replace(statement.preceded(numbers), method="enclosure")
    return statement.preceded(bound) if bound else statement


def _numbers(problem: Problem, approached: Bound) -> str:
    """g at a few beta, each between two numbers; nothing where a constant has no value, or the search fails."""
    case, found = problem.specialised(), []
    if case.constants:
        return ""
    for beta in _BETAS:
        try:
            found.append(f"g({beta:g}) lies in {least_at(case, beta, approached).text()}")
        except (Undecided, ArithmeticError):
            return ""
    return ", ".join(found)


def _cases(problem, seen, given):
    """Cases in which a closed form is looked for, the most general first: (case, its condition, whether it applies)."""
    yield from ((case, None, True) for case in dict.fromkeys([problem, *(case for case, _, _ in seen)]))
    if problem.link == "one-minus" and problem.constants:
        try:
            case, needed = under_positive_eigenvalues(problem)
        except Undecided:
            pass
        else:
            condition = problem.rename(" and ".join(sympy.sstr(one.relation()) for one in needed))
            held = [one.holds(given) for one in needed]
            if False not in held or problem.specialised().constants:
                yield case, condition, all(held)
    if problem.specialised() != problem:
        yield problem.specialised(), None, True


def _least(case: Problem, seen: list) -> Least | None:
    slope = next((found for other, _, found in seen if other == case), None)
    if slope is not None:
        least = by_slope(_largest_slope(slope))
        if least is not None:
            return least
    try:
        return largest_ratio(case)
    except Undecided:
        return None


def _by_decay(case: Problem) -> Least | None:
    """Theorem 4, where it applies."""
    if case.link != "exponential":
        return None
    try:
        least = by_slope(_largest_slope(_slopes(replace(case, link="continuous"))[2]))
        if least is None or least.weight not in _INFINITE or limit_at(case.decay, W, least.weight, "-") != 0:
            return None
    except Undecided:
        return None
    return least


def _bound_text(case: Problem, slope: Bound) -> str:
    if not slope.values:
        return "g(beta) <= exp(K*beta) - 1, K the supremum"
    levels = [case.text(value) for value, _, _ in slope.values]
    least = f"({levels[0]})" if len(levels) == 1 else f"max({', '.join(levels)})"
    return f"g(beta) <= exp({least}*beta) - 1"


def _with_failure(problem: Problem, statement: Statement, case: Problem, cells: tuple[Cell, ...], found: Bound):
    """The refutation with a pair of weights at distance beta whose margins have no bounded ratio."""
    chosen = dict(statement.counterexample.constants)
    values = dict.fromkeys(case.constants, sympy.Integer(1)) | dict(problem.values)
    names = dict(case.names)
    values |= {symbol: sympy.Rational(str(chosen[names[symbol]])) for symbol in values if names.get(symbol) in chosen}
    shown = failing_pair(case, cells, found, values, _edges(cells))
    note(case, "by the mean value theorem $ln m$ changes without bound over a fixed distance")
    return statement.preceded(f"no g exists: {shown}") if shown else statement
