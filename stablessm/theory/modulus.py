"""Statement `modulus`: Definition 3.2, stable reparameterization.

With margin m (|f| in continuous, 1 - |f| in discrete time) the definition asks for a continuous g with g(0) = 0 and

    sup_w sup_{|w~ - w| <= beta} |m(w)/m(w~) - 1| <= g(beta),

that is, for ln m to be uniformly continuous; the least g is e^omega - 1, omega its modulus of continuity. (For two
stable real modes the integral of |e^{f~ t} - e^{f t}| is |1/f~ - 1/f|.) Two theorems decide it:

1. If K = sup |m'/m| is finite then omega(beta) <= K beta. If |m'/m| has the limit K at infinity, or is K there, then
   omega(beta) = K beta: the difference of ln m over an interval of length beta that moves to infinity tends to K beta.
2. If m -> 0 at a finite weight, or |m'/m| -> oo at infinity, no g exists: by the mean value theorem the difference of
   ln m over an interval of fixed length grows without bound.

Otherwise omega is the supremum of ln m(w - h) - ln m(w + h), 2 h = beta, found like the range of any map; where that is
not found, the bound e^{K beta} - 1 stands.
"""

import sympy

from stablessm.calculus.limits import limit_at, normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounded import bounded
from stablessm.theory.bounds import Bound, Quantity, bound_of
from stablessm.theory.criteria import stable_cells
from stablessm.theory.domain import Cell, cells_of
from stablessm.theory.jumps import jump_of
from stablessm.theory.pieces import pieces_of
from stablessm.theory.problem import Problem, W
from stablessm.theory.ranges import extremes_of
from stablessm.theory.signs import constant_sign, sign_at, sign_on
from stablessm.theory.statement import Statement

BETA = sympy.Symbol("beta", positive=True)
"""The size of a perturbation of the weight."""

_INFINITE = (sympy.oo, -sympy.oo)
_NAME = {"continuous": "|f'/f|", "one-minus": "|f'|/(1 - |f|)", "exponential": "|f'|/(1 - |f|)"}


def modulus(problem: Problem) -> Statement:
    """Is the map a stable reparameterization in the sense of Definition 3.2, and with which modulus?"""

    def quantities(case):
        cells = stable_cells(case)
        if jump_of(cells, lambda cell: cell.margin()) is not None:
            raise Undecided("the modulus of a margin that jumps")
        slopes = [Quantity(c.lower, c.upper, normal(c.slope() / c.margin())) for c in cells]
        found = bound_of(slopes)
        for blow_up in found.blow_ups:
            _check_failure(cells, blow_up)
        edges = _edges(cells)
        if edges and not found.blow_ups:
            raise Undecided(f"perturbations of the weight beyond {edges[0]}, where the map is not stable")
        shown = "" if found.blow_ups else f"{_modulus_text(case, cells, found)}; "
        return shown, _NAME[case.link], slopes

    return bounded("modulus", problem, quantities)


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


def _check_failure(cells, blow_up) -> None:
    """An infinite slope refutes the modulus at infinity, at an edge, and where the margin vanishes or is infinite."""
    point = blow_up.point
    if point in _INFINITE or point in _edges(cells):
        return
    cell = next(c for c in cells if (c.lower, c.upper) == (blow_up.quantity.lower, blow_up.quantity.upper))
    margin = limit_at(cell.margin(), W, point, blow_up.side)
    if margin not in _INFINITE and constant_sign(margin) != 0:
        raise Undecided(f"the modulus near {point}, where the slope is infinite and the margin is not 0")


def _modulus_text(case: Problem, cells: tuple[Cell, ...], slope: Bound) -> str:
    """g(beta) in closed form, exact where a theorem gives it."""
    at_infinity = any(point in _INFINITE for _, point, _ in slope.values)
    if len(slope.values) == 1 and (at_infinity or slope.constant is not None):
        return f"g(beta) = {case.text(sympy.exp(slope.values[0][0] * BETA) - 1)}"
    try:
        exact = largest_ratio(case) - 1
        return f"g(beta) = {case.text(tidy(exact))}"
    except Undecided:
        if not slope.values:
            return "g(beta) <= e^(K beta) - 1, K the supremum"
        levels = [case.text(value) for value, _, _ in slope.values]
        least = levels[0] if len(levels) == 1 else f"max({', '.join(levels)})"
        return f"g(beta) <= exp(({least})*beta) - 1"


def largest_ratio(case: Problem) -> sympy.Expr:
    """sup over w of m(w)/m(w~) at distance beta, as an expression of beta and the constants.

    Raises:
        Undecided: the supremum was not found, or does not increase with beta.
    """
    if case.link == "one-minus" and {cell.branch for cell in cells_of(case)} != {"s"}:
        raise Undecided("the modulus across lambda = 0")
    margin = 1 - sympy.exp(-case.decay) if case.link == "exponential" else case.decay
    if any(node.args[0].has(sympy.exp) for node in margin.atoms(sympy.exp)):
        raise Undecided("the supremum of a quotient of exponentials of exponentials")
    ratio = normal(margin.subs(W, W - BETA / 2) / margin.subs(W, W + BETA / 2))
    largest, place = None, None
    for extreme in extremes_of(ratio, pieces_of(ratio, W), W):
        if extreme.weight in _INFINITE:
            above = constant_sign(extreme.value - 1)
        else:
            above = sign_at(ratio - 1, W, extreme.weight)
        if above is None:
            raise Undecided(f"whether {extreme.value} exceeds 1")
        if above == 0:
            continue
        value = extreme.value if above > 0 else 1 / extreme.value
        if largest is None or _compared(value, largest) > 0:
            largest, place = value, extreme
    if largest is None:
        raise Undecided("a weight at which the ratio is not 1")
    if not (_increasing(largest) or _increasing_at(ratio, place)):
        raise Undecided(f"whether {largest} increases with beta")
    return largest


def _compared(first, second) -> int:
    sign = constant_sign(first - second)
    if sign is None and sympy.simplify(first - second) == 0:
        sign = 0
    if sign is None:
        raise Undecided(f"which of {first} and {second} is larger")
    return sign


def _increasing(ratio) -> bool:
    return sign_on(sympy.diff(ratio, BETA), BETA, sympy.Integer(0), sympy.oo) == 1


def _increasing_at(ratio, place) -> bool:
    """At an interior maximum in w the derivative of the maximum in beta is the partial one, w held fixed."""
    if place.side or place.span or place.weight in _INFINITE:
        return False
    grows, above = sign_at(sympy.diff(ratio, BETA), W, place.weight), sign_at(ratio - 1, W, place.weight)
    return grows is not None and above is not None and grows * above > 0
