r"""From a gradient scale to the map that has it.

With tau = 1/|f| in continuous time and 1/(1 - f) in discrete time the gradient scale of Theorem 3.4 is |tau'|, so that

    f'/f^2 = G(w)    or    f'/(1 - f)^2 = G(w)    <=>    tau = T(w) - inf T + b,    T' = G,

and the map follows from tau: s = 1/tau under the links -s and 1 - s, s = log(1 + 1/tau_0), tau = 1 + tau_0, under e^-s.
The constant of integration b is the shortest memory: with b > 0 the decay is positive for every weight (under 1 - s the
eigenvalue also stays above -1 for b > 1/2). If T falls to -infinity then -T is tried, which has the same modulus of G,
and after that the smooth root of G^2 where G holds an absolute value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sympy

from stablessm.calculus.limits import normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.design.errors import DesignError, Unsolved
from stablessm.design.formulas import formula_of, free_name, text_of
from stablessm.design.solution import TIME_LIMIT, Design, check, filled, margin_of, solving
from stablessm.parameterizations import Parameterization
from stablessm.theory.pieces import pieces_of
from stablessm.theory.problem import W
from stablessm.theory.ranges import extremes_of
from stablessm.theory.signs import constant_sign

DEFAULTS = {"continuous": 0.5, "one-minus": 1.0, "exponential": 1.0}
"""The constant of integration where none is given: the published b; in discrete time what keeps lambda >= 0."""

_FORMS = {"continuous": "f'/f^2", "one-minus": "f'/(1 - f)^2", "exponential": "f'/(1 - f)^2"}
_INFINITE = (sympy.oo, -sympy.oo)


def from_gradient_scale(
    scale: str,
    *,
    link: str = "continuous",
    constants: Mapping[str, float] | None = None,
    name: str | None = None,
    limit: float = TIME_LIMIT,
) -> Design:
    """Return the map whose gradient scale |f'|/f^2 (discrete |f'|/(1 - f)^2) is a given function of the weight.

    Args:
        scale: formula of G(w) in the grammar; its constants are positive.
        link: how the decay becomes an eigenvalue.
        constants: values of its constants and of the constant of integration (b, or the next free letter). The latter
            may be 0: then it is left out.
        name: the map's label; the formula by default.
        limit: seconds of processor time.

    Raises:
        DesignError: a value for a constant that there is not, or a scale that is 0.
        ParameterizationError: the formula does not parse, or the link is unknown.
        Unsolved: no closed form, or no solution that is stable for every weight.

    Example:
        >>> from_gradient_scale("2*a*w").map.formula
        '1/(a*w**2 + b)'

    References: Wang and Li, StableSSM (ICML 2024), section 3.3.
    """
    asked = Parameterization.from_formula(scale, link=link)
    integral, given = free_name(asked.constant_names), dict(constants or {})
    for one in given:
        if one not in (*asked.constant_names, integral):
            known = ", ".join((*asked.constant_names, integral))
            raise DesignError(f"there is no constant {one!r} here; the constants are: {known}.")
    constant = sympy.Symbol(integral, positive=True)
    without = given.get(integral) == 0
    wanted = asked.expression
    if wanted == 0:
        raise DesignError("a gradient scale must not be 0 for every weight: a constant map has no gradient.")
    exact = {sympy.Symbol(one, positive=True): sympy.Rational(repr(value)) for one, value in given.items()}
    wanted, tau = _solved(dict.fromkeys((wanted, wanted.subs(exact))), scale, limit)
    decay = _decay_of(tau + (0 if without else constant), link)
    formula = formula_of(decay)
    with solving(limit, "the check of the solution"):
        back = Parameterization.from_formula(formula, link=link).expression
        checked = check(lambda: sympy.diff(1 / margin_of(back, link), W), wanted)
    if checked is None:
        raise Unsolved(f"the solution {formula} was found but does not solve {_FORMS[link]} = {scale}")
    values, notes = filled(Parameterization.from_formula(formula).constant_names, given, {integral: DEFAULTS[link]})
    if link == "one-minus" and not without and values[integral] <= 0.5:
        notes.append(f"{integral} <= 1/2 lets the eigenvalue reach -1; {integral} > 1/2 keeps it above.")
    eigenvalue = {"continuous": "-1/tau", "one-minus": "1 - 1/tau", "exponential": "1 - 1/tau"}[link]
    shown = text_of(tau + int(link == "exponential") + (0 if without else constant))
    return Design(
        map=Parameterization.from_formula(formula, constants=values, link=link, name=name),
        question=f"|{_FORMS[link][:2]}|{_FORMS[link][2:]} = {scale}",
        answer=f"f = {eigenvalue}, tau = {shown}, s = {formula}",
        checked=f"{_FORMS[link]} of the formula against {scale}: {checked}",
        notes=tuple(notes),
    )


def _solved(scales: Iterable[sympy.Expr], text: str, limit: float) -> tuple[sympy.Expr, sympy.Expr]:
    """The first scale that has a solution, and T - inf T: for all constants, or else at the values given."""
    reasons: list[Unsolved] = []
    for scale in scales:
        try:
            with solving(limit, f"a closed form for the map with the gradient scale {text}"):
                return scale, _bounded_integral(scale, text)
        except Unsolved as reason:
            reasons.append(reason)
    raise reasons[-1]


def _bounded_integral(scale: sympy.Expr, text: str) -> sympy.Expr:
    """T - inf T for the first of the antiderivatives of the roots of G^2 that is bounded below and has no gap.

    Raises:
        Unsolved: none is; the sentence says what is the matter with the first.
    """
    reasons = []
    for root in _roots(scale):
        integral = sympy.integrate(root, W)
        if integral.has(sympy.Integral, sympy.Piecewise, sympy.I, sympy.zoo, sympy.nan):
            reasons.append("its integral has no closed form in one piece")
            continue
        formula_of(integral)
        for signed in (integral, -integral):
            try:
                return tidy(signed - _infimum(signed))
            except Unsolved as reason:
                reasons.append(str(reason))
    raise Unsolved(f"no map that is stable for every weight has the gradient scale {text}: {reasons[0]}")


def _roots(scale: sympy.Expr) -> Iterator[sympy.Expr]:
    yield scale
    smooth = scale.replace(sympy.Abs, lambda inside: inside)
    if smooth != scale and normal(smooth**2 - scale**2) == 0:
        yield smooth


def _infimum(integral: sympy.Expr) -> sympy.Expr:
    """The infimum of an antiderivative over all weights.

    Raises:
        Unsolved: it is -infinity, or there is a weight without a value.
        Undecided: it was not found.
    """
    pieces = pieces_of(integral, W)
    gaps = [piece for piece in pieces if piece.expression is None]
    lowest = None
    for extreme in extremes_of(integral, pieces, W):
        if gaps or (extreme.value in _INFINITE and extreme.weight not in _INFINITE):
            where = gaps[0].lower if gaps else extreme.weight
            raise Unsolved(f"1/|f| = {text_of(integral)} + const has no finite value everywhere (near w = {where})")
        if extreme.value is -sympy.oo:
            raise Unsolved(f"1/|f| = {text_of(integral)} + const is negative towards w = {extreme.weight}")
        sign = 1 if lowest is None else constant_sign(lowest - extreme.value)
        if sign is None:
            raise Undecided(f"which of {lowest} and {extreme.value} is less")
        lowest = extreme.value if sign > 0 else lowest
    return lowest


def _decay_of(tau: sympy.Expr, link: str) -> sympy.Expr:
    return sympy.log(1 + 1 / tau) if link == "exponential" else 1 / tau
