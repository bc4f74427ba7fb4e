"""Conditions on the constants of a map, such as b > 1/2: reduced, decided and written."""

from dataclasses import dataclass
from itertools import product

import sympy

from stablessm.calculus.approach import TRIAL_VALUES
from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.signs import constant_sign


@dataclass(frozen=True)
class Requirement:
    """`value` > 0, or >= 0 where not strict; `value` is an expression of the positive constants."""

    value: sympy.Expr
    strict: bool = True

    def holds(self, values: dict[sympy.Symbol, sympy.Rational] | None = None) -> bool | None:
        """Whether it holds at the given values (for all positive constants if none), or None if that is open."""
        sign = constant_sign(self.value.subs(values) if values else self.value)
        return None if sign is None else sign > 0 or (sign == 0 and not self.strict)

    def bound(self) -> tuple[sympy.Symbol, int, sympy.Expr] | None:
        """The same as a bound on one constant: (symbol, 1, c) for symbol > c, (symbol, -1, c) for symbol < c.

        Found where the numerator is linear in a constant with a slope of known sign over a denominator of known sign.
        """
        top, bottom = sympy.fraction(normal(self.value))
        scale = constant_sign(bottom)
        for symbol in sorted(top.free_symbols, key=str):
            if scale and top.is_polynomial(symbol) and sympy.degree(top, symbol) == 1:
                offset, slope = top.subs(symbol, 0), sympy.diff(top, symbol)
                direction = constant_sign(slope)
                if direction:
                    return symbol, direction * scale, sympy.cancel(-offset / slope)
        return None

    def relation(self) -> sympy.Rel:
        """The requirement as a relation in its simplest form."""
        bound = self.bound()
        if bound is None:
            left, right, direction = normal(self.value), sympy.Integer(0), 1
        else:
            left, direction, right = bound
        if self.strict:
            return sympy.Gt(left, right) if direction > 0 else sympy.Lt(left, right)
        return sympy.Ge(left, right) if direction > 0 else sympy.Le(left, right)


def open_ones(requirements: list[Requirement]) -> list[Requirement] | None:
    """The requirements that depend on the constants; None if one of them fails for all."""
    left: dict[str, Requirement] = {}
    for requirement in requirements:
        held = requirement.holds()
        if held is False:
            return None
        if held is None:
            relation = str(requirement.relation())
            left[relation] = requirement
    return [r for r in left.values() if not any(_implies(other, r) for other in left.values() if other is not r)]


def _implies(first: Requirement, second: Requirement) -> bool:
    """Whether two bounds on one constant are such that the first gives the second."""
    strong, weak = first.bound(), second.bound()
    if strong is None or weak is None or strong[:2] != weak[:2]:
        return False
    sign = constant_sign(strong[1] * (strong[2] - weak[2]))
    return sign == 1 or (sign == 0 and first.strict and not second.strict)


def failing_values(
    requirements: list[Requirement], fixed: dict[sympy.Symbol, sympy.Rational], free: tuple[sympy.Symbol, ...]
) -> dict[sympy.Symbol, sympy.Rational] | None:
    """Simple positive values of the free constants at which a requirement fails, the fixed ones kept."""
    for trial in product(TRIAL_VALUES, repeat=min(len(free), 4)):
        values = fixed | dict.fromkeys(free, sympy.Integer(1)) | dict(zip(free, trial, strict=False))
        if any(requirement.holds(values) is False for requirement in requirements):
            return values
    return None


def assumed(requirements: list[Requirement]) -> tuple[dict[sympy.Symbol, sympy.Expr], dict[sympy.Symbol, sympy.Expr]]:
    """Substitutions that build bounds on constants into their positivity.

    b > c becomes b = c + d with d > 0, and b < c becomes b = c/(1 + d).

    Returns:
        (forward, back): what to put in for the constants, and what the new ones stand for.

    Raises:
        Undecided: a requirement is not a bound on a constant by a positive number, or two bound the same one.
    """
    forward, back = {}, {}
    for requirement in requirements:
        bound = requirement.bound()
        if bound is None or bound[0] in forward or constant_sign(bound[2]) != 1 or bound[2].free_symbols:
            raise Undecided(f"a proof under the condition {requirement.relation()}")
        symbol, direction, level = bound
        new = sympy.Symbol(f"{symbol.name}d", positive=True)
        forward[symbol] = level + new if direction > 0 else level / (1 + new)
        back[new] = symbol - level if direction > 0 else level / symbol - 1
    return forward, back
