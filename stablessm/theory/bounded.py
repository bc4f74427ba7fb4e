"""Statements of the form "this quantity of the weight is bounded".

A proof runs for all positive constants first; if that fails, under the condition for stability; and last at the values
given. A condition that is needed is reported, and tested for need: at constants that break it the quantity is examined
again, so that "proved for b > 1/2" does not pass for a proof.
"""

from collections.abc import Callable
from dataclasses import replace

import sympy

from stablessm.calculus.approach import trials
from stablessm.calculus.enclosure import value_at
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounds import Bound, Quantity, in_words, limits_of, note_bound, witness_of
from stablessm.theory.budget import secure
from stablessm.theory.closed import with_supremum
from stablessm.theory.conditions import failing_values
from stablessm.theory.derivation import attempt, note
from stablessm.theory.domain import under_stability
from stablessm.theory.problem import Problem
from stablessm.theory.quantities import quantities_of
from stablessm.theory.spotcheck import survives, values_in
from stablessm.theory.statement import Statement
from stablessm.theory.suprema import supremum_of
from stablessm.theory.witness import counterexample_at, is_representable

Quantities = Callable[[Problem], tuple[str, list[Quantity]]]
"""From a problem to the quantity's name and its pieces."""


_CHOICES = 3
"""Choices of free constants at which a blow-up is looked for; each costs a proof."""


def bounded(identity: str, problem: Problem, quantities: Quantities) -> Statement:
    """Decide whether a quantity is bounded over the stable weights.

    Args:
        identity: the statement's id.
        problem: the map.
        quantities: builds the quantity's smooth pieces; may raise `Undecided`.
    """
    reasons: list[str] = []
    given = dict(problem.values)

    def examined(case: Problem, condition: str | None, holds: bool = True) -> tuple[str, Bound] | None:
        try:
            with attempt():
                name, pieces = quantities(case)
                if not pieces:
                    raise Undecided("a stable weight; there is none")
                bound = limits_of(pieces)
                if holds and not bound.blow_ups and survives(bound, values_in(case, given)):
                    secure(Statement(identity, "proved", in_words(case, name, bound), condition))
                bound = with_supremum(bound)
                if not survives(bound, values_in(case, given)):
                    raise Undecided(f"{name} in general; at these constants the numbers are different")
                note_bound(case, name, bound)
                return name, bound
        except Undecided as reason:
            reasons.append(str(reason))
            return None

    found = examined(problem, _all(problem))
    if found is not None:
        statement = _stated(identity, problem, problem, found, "never" if found[1].blow_ups else _all(problem), given)
        if statement.verdict != "undecided":
            return statement
        reasons.append("a weight at which it is large")
    condition, conditional, needed = None, None, []
    try:
        case, needed = under_stability(replace(problem, values=()))
        held = all(requirement.holds(given) for requirement in needed)
        asked = problem.rename(" and ".join(sympy.sstr(requirement.relation()) for requirement in needed))
        conditional = examined(case, asked, held)
    except Undecided as reason:
        reasons.append(str(reason))
    if conditional is not None and not conditional[1].blow_ups:
        condition = asked
        if held:
            return _stated(identity, problem, case, conditional, condition, given)
    for values in _choices(problem, needed if condition else [], given):
        own = set(values) <= set(given)
        found = examined(problem.specialised(values), None, own)
        if found is not None and (found[1].blow_ups or own):
            return _stated(identity, problem, problem, found, condition if found[1].blow_ups else None, values)
    tried = "; ".join(dict.fromkeys(reasons)) or "constants that break the condition"
    return Statement(identity, "undecided", problem.rename(f"tried: {tried}"), condition)


def _choices(problem, needed, given):
    """The values given; where constants are free, a few choices of them, first one that breaks the condition."""
    free = problem.specialised().constants
    broken = failing_values(needed, given, free) if free and needed else None
    return ([broken] if broken else []) + [given | trial for trial in trials(set(free), _CHOICES)]


def _with_numbers(statement: Statement, problem: Problem, case: Problem, found: tuple[str, Bound]) -> Statement:
    """A bounded quantity whose supremum has no closed form, with numbers between which it lies."""
    name, bound = found
    secure(statement)
    own = problem.specialised()
    if own.constants:
        return statement
    try:
        known = at_values(bound, values_in(case, dict(problem.values)))
        size = supremum_of(quantities_of(own, statement.id), known)
    except (Undecided, ArithmeticError):
        return statement
    note(problem, "no closed form of the supremum was found; boxes whose ends are rounded outwards, and bounds at the "
                  f"ends, enclose it in ${size.text()}$")  # fmt: skip
    level = f"lies in {size.text()} (no closed form was found)"
    if size.lower == size.upper == round(size.upper):
        level = f"= {size.upper:.10g}"
    return replace(statement, expression=f"sup of {name} {level}, {size.where()}", method="enclosure")


def at_values(bound: Bound, given: dict) -> Bound:
    """The limits at the values given, those that are numbers then."""
    limits = [
        (q, *(part.subs(given) if isinstance(part, sympy.Basic) else part for part in rest))
        for q, *rest in bound.limits
    ]
    return Bound((), limits=tuple(one for one in limits if one[1].is_extended_real and one[3].is_number))


def _all(problem: Problem) -> str | None:
    constants = problem.constants
    return problem.rename("all " + ", ".join(f"{symbol} > 0" for symbol in constants)) if constants else None


def _stated(identity, problem, case, found, condition, given):
    name, bound = found
    if not bound.blow_ups:
        statement = Statement(identity, "proved", in_words(case, name, bound), condition)
        known = bound.values or bound.constant is not None
        return statement if known else _with_numbers(statement, problem, case, found)
    values = dict.fromkeys(problem.constants, sympy.Integer(1)) | given
    witness = witness_of(bound, values, lambda weight: is_representable(case, weight, values))
    if witness is None:
        shown = in_words(case, name, bound)
        return Statement(identity, "undecided", f"{shown}; tried: a weight at which it is large", condition)
    weight, size = witness
    example = counterexample_at(problem, weight, values)
    there = f"it is {float(size):.3g} at w = {float(value_at(weight, {})):.10g}"
    secure(Statement(identity, "refuted", f"{name} is unbounded; {there}", condition, example))
    note(case, "interval arithmetic gives ${}$ at $w = {}$", f"{float(size):.3g}", weight)
    return Statement(identity, "refuted", f"{in_words(case, name, bound)}; {there}", condition, example)
