r"""From a largest stable step to the map that has it at every memory length.

One mode e^{-s t} at the optimum of its squared loss allows gradient descent the step R(s)/(ds/dw)^2
(theory/curvature.py), with

    R = 4 s^3    in continuous time,    R = (1 - q^2)^3 / ((1 + q^2) (dq/ds)^2)    in discrete time, q = lambda(s),

so that a step that is a given function of the decay s, hence of the memory length 1/s, asks for

    dw/ds = sqrt(step(s)/R(s)).

In continuous time this is w = int sqrt(step) du with u = 1/sqrt(s): the weight is arc length in u. The constant of
integration shifts the weight, which the step does not see; it is left out. A step that does not fall fast enough
towards short memories makes the integral converge there: a map with this step has an infinite decay at a finite weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import sympy

from stablessm.calculus.limits import normal, tidy
from stablessm.calculus.outcomes import SYMPY_GAVE_UP, Undecided
from stablessm.design.errors import DesignError, Unsolved
from stablessm.design.formulas import formula_of
from stablessm.design.solution import TIME_LIMIT, Design, check, filled, solving
from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization
from stablessm.parameterizations.grammar import parse
from stablessm.parameterizations.primitives import elementary
from stablessm.theory.inverse import inverse_of
from stablessm.theory.problem import S, W

_U = sympy.Symbol("u", positive=True)
_DISCRETE = "(1 - f^2)^3/((1 + f^2) f'^2)"
_FORMS = {"continuous": "4 s^3/f'^2", "one-minus": _DISCRETE, "exponential": _DISCRETE}


def numerator(decay: sympy.Expr, link: str) -> sympy.Expr:
    """R(s): the largest stable step times (ds/dw)^2, of one mode with the given decay.

    Args:
        decay: s, a symbol or an expression.
        link: how the decay becomes an eigenvalue.
    """
    if link == "continuous":
        return 4 * decay**3
    q = 1 - decay if link == "one-minus" else sympy.exp(-decay)
    slope = 1 if link == "one-minus" else q
    return (1 - q**2) ** 3 / ((1 + q**2) * slope**2)


def from_stable_step(
    step: str,
    *,
    link: str = "continuous",
    constants: Mapping[str, float] | None = None,
    name: str | None = None,
    limit: float = TIME_LIMIT,
) -> Design:
    """Return the map whose largest stable gradient-descent step is a given function of the decay.

    Args:
        step: formula of step(s) in the grammar, its variable the decay s = 1/memory length; its constants are positive.
        link: how the decay becomes an eigenvalue.
        constants: values of its constants; 1 by default.
        name: the map's label; the formula by default.
        limit: seconds of processor time for each of the integral and its inverse.

    Raises:
        DesignError: a value for a constant that there is not, or a step that is 0 or negative.
        ParameterizationError: the formula does not parse, or the link is unknown.
        Unsolved: no closed form for the integral or its inverse.

    Example:
        >>> from_stable_step("1/(a*(1 - b*s))").map.formula
        '1/(a*w**2 + b)'
    """
    given = dict(constants or {})
    general = _read(step, link, given)
    exact = {sympy.Symbol(one, positive=True): sympy.Rational(repr(value)) for one, value in given.items()}
    with solving(limit, f"a closed form for the weight with the step {step}"):
        for wanted in dict.fromkeys((general, general.subs(exact))):  # for all constants, or else at the values given
            weights = list(_weights(wanted, link))
            if weights:
                break
    if not weights:
        raise Unsolved(f"the integral of the weight with the step {step} has no closed form")
    tried = []
    with solving(limit, f"the inverse of w = {weights[0]}"):
        for decay in dict.fromkeys(found for weight in weights for found in _decays(weight)):
            try:
                formula = formula_of(decay)
            except Unsolved as reason:
                tried.append(str(reason))
                continue
            back = Parameterization.from_formula(formula, link=link).expression
            checked = check(lambda back=back: numerator(back, link) / sympy.diff(back, W) ** 2, wanted.subs(S, back))
            if checked is not None:
                break
            tried.append(f"{formula} has another step")
        else:
            raise Unsolved(f"no decay s(w) with w = {weights[0]} was found{f' ({tried[0]})' if tried else ''}")
    values, notes = filled(Parameterization.from_formula(formula).constant_names, given, {})
    return Design(
        map=Parameterization.from_formula(formula, constants=values, link=link, name=name),
        question=f"largest stable step {_FORMS[link]} = {step}, s the decay, 1/s the memory length",
        answer=f"w = {weights[0]} up to sign and shift, s = {formula}",
        checked=f"{_FORMS[link]} of the formula against {step}: {checked}",
        notes=(*_remarks(decay, weights[0], link), *notes),
    )


def _read(step: str, link: str, given: Mapping[str, float]) -> sympy.Expr:
    wanted = elementary(parse(step, variable="s"))
    names = sorted(symbol.name for symbol in wanted.free_symbols if symbol.name != "s")
    if "w" in names:
        raise DesignError("a stable step is a function of the decay s, not of the weight w.")
    if names:  # refuses names with a meaning of their own, and an unknown link
        Parameterization.from_formula("+".join(names), link=link)
    else:
        Parameterization.from_formula("exp(w)", link=link)
    for one in given:
        if one not in names:
            raise DesignError(f"there is no constant {one!r} here; the constants are: {', '.join(names) or 'none'}.")
    if wanted.is_number and not wanted > 0:
        raise DesignError(f"a stable step must be positive, but got {step}.")
    return wanted.xreplace({symbol: S for symbol in wanted.free_symbols if symbol.name == "s"})


def _weights(step: sympy.Expr, link: str) -> Iterator[sympy.Expr]:
    """w(s) by the integral over s, and in continuous time over u = 1/sqrt(s), those that SymPy closes."""
    integrands = [(sympy.sqrt(normal(step / numerator(S, link))), S, S)]
    if link == "continuous":
        integrands.insert(0, (sympy.sqrt(normal(step.subs(S, 1 / _U**2))), _U, 1 / sympy.sqrt(S)))
    for root, variable, value in integrands:
        try:
            found = sympy.integrate(sympy.powdenest(sympy.expand_power_base(root, force=True), force=True), variable)
        except SYMPY_GAVE_UP:
            continue
        if not found.has(sympy.Integral, sympy.Piecewise, sympy.I, sympy.zoo, sympy.nan):
            weight = tidy(found.subs(variable, value))
            yield -weight if variable is _U else weight


def _decays(weight: sympy.Expr) -> Iterator[sympy.Expr]:
    """s(w) with w(s(w)) = w or -w, the growing one first; each is put back into the question by the caller."""
    for sign in (1, -1):
        with suppress(Undecided, *SYMPY_GAVE_UP):
            yield tidy(inverse_of((sign * weight).xreplace({S: W})).xreplace({S: W}))
    for sign in (1, -1):
        with suppress(*SYMPY_GAVE_UP):
            yield from map(tidy, sympy.solve(sign * weight - W, S))


def _remarks(decay: sympy.Expr, weight: sympy.Expr, link: str) -> Iterator[str]:
    """Which built-in map it is, and whether short memories lie at a finite weight."""
    for one in PARAMETERIZATIONS.values():
        if link not in one.links:
            continue
        pattern = one.replace(link=link).expression
        wild = {symbol: sympy.Wild(symbol.name, exclude=[W]) for symbol in pattern.free_symbols - {W}}
        for sign, words in ((1, ""), (-1, " with the weight's sign turned")):
            form = pattern.subs(W, sign * W).xreplace(wild)
            found = decay.match(form) or (1 / decay).match(1 / form)
            if found is not None and normal(form.xreplace(found) - decay) == 0:
                at = ", ".join(f"{one.name} = {found[one]}" for one in wild.values() if str(found[one]) != one.name)
                yield f"this is {one.name}{words}{f' with {at}' if at else ''}."
                break
    try:
        end = sympy.limit(weight, S, sympy.oo)
    except SYMPY_GAVE_UP:
        return
    if end.is_real and end.is_finite and link == "continuous":
        yield (
            f"w stays finite (-> {end}) as s -> oo: a map with this step has an infinite decay at a finite weight; "
            "this step over (1 - b*s) bounds the decay by 1/b."
        )
