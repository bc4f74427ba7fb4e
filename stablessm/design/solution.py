"""A map that was asked for, with the question, the equation it solves and how that was checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import mpmath
import sympy

from stablessm.calculus.approach import trials
from stablessm.calculus.enclosure import value_at
from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import SYMPY_GAVE_UP, Undecided
from stablessm.design.errors import Unsolved
from stablessm.parameterizations import Parameterization
from stablessm.theory.budget import OutOfTime, time_limit
from stablessm.theory.problem import W

TIME_LIMIT = 10.0
"""Seconds of processor time for the solution of one equation."""

_WEIGHTS = tuple(
    sympy.Rational(*pair) for pair in ((1, 3), (-1, 3), (7, 5), (-7, 5), (13, 4), (-13, 4), (1, 20), (9, 1))
)
_AGREE = mpmath.mpf(10) ** -14


@dataclass(frozen=True)
class Design:
    """An answer.

    Attributes:
        map: the map, every constant with a value.
        question: the equation or the criterion, as text.
        answer: the general solution, as text.
        checked: how it was put back into the question, as text.
        notes: what else is to be said, a sentence each.
    """

    map: Parameterization
    question: str
    answer: str
    checked: str
    notes: tuple[str, ...] = ()

    def table(self) -> dict[str, object]:
        """The map as a table of a declaration's axis `parameterization`; its link is a value of the axis `link`."""
        return {
            "formula": self.map.formula,
            **({"constants": self.map.constants} if self.map.constants else {}),
            "label": self.map.name,
        }

    def to_json(self) -> dict[str, object]:
        """The answer as a document, ready for `json.dumps`."""
        return {
            "question": self.question,
            "answer": self.answer,
            "checked": self.checked,
            "notes": list(self.notes),
            "map": self.table() | {"link": self.map.link},
        }


def margin_of(decay: sympy.Expr, link: str) -> sympy.Expr:
    """The margin of the published criterion: s (also of 1 - s, whatever its sign), or 1 - exp(-s)."""
    return 1 - sympy.exp(-decay) if link == "exponential" else decay


@contextmanager
def solving(seconds: float, what: str):
    """Turn whatever a symbolic engine ends in into `Unsolved`, and hold it to a limit of processor time.

    Raises:
        Unsolved: it gave up, or took too long.
    """
    try:
        with time_limit(seconds):
            yield
    except OutOfTime:
        raise Unsolved(f"{what} was not found within {seconds:g} s of processor time") from None
    except (Undecided, *SYMPY_GAVE_UP) as reason:
        raise Unsolved(f"{what} was not found ({(str(reason).splitlines() or ['no reason given'])[0]})") from None


def check(left: Callable[[], sympy.Expr], right: sympy.Expr) -> str | None:
    """How the two sides of an equation in w agree up to the sign of the left one; None where they do not.

    Equal by algebra, or else at exact weights, in 60 digits, to the digits that a formula's numbers have.

    Args:
        left: gives the first side, for the derivation may fail too.
        right: the second side.
    """
    first = left()
    for form in (normal, sympy.simplify):
        try:
            if any(form(first - sign * right) == 0 for sign in (1, -1)):
                return "equal by algebra"
        except SYMPY_GAVE_UP:
            continue
    compared = 0
    for values in trials((first.free_symbols | right.free_symbols) - {W}, 2):
        for weight in _WEIGHTS:
            try:
                one, other = (abs(value_at(side, values | {W: weight})) for side in (first, right))
            except ArithmeticError:
                continue
            if abs(one - other) > _AGREE * (one + other):
                return None
            compared += 1
    return f"equal to 14 digits at {compared} weights" if compared >= 4 else None


def filled(names: tuple[str, ...], given: Mapping[str, float], own: Mapping[str, float]) -> tuple[dict, list[str]]:
    """Values for all constants, and a sentence for each that was not given.

    Args:
        names: the constants of a formula.
        given: the user's values.
        own: defaults of those that the solution brought in; any other is 1.
    """
    values, notes = {}, []
    for name in names:
        values[name] = given.get(name, own.get(name, 1.0))
        if name not in given:
            notes.append(f"{name} = {values[name]:g} by default; give --constant {name}=VALUE for another.")
    return values, notes
