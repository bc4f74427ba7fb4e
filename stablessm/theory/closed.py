"""The supremum of a bounded quantity in closed form.

It is among the moduli of the limits at the ends and of the values where the slope vanishes. Under the exponential link
a quantity is one of the continuous link times a function of the decay that is below 1 and tends to 1 where s -> 0: if
the other factor's supremum is approached there it is the supremum of both.
"""

from dataclasses import replace

import sympy

from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import Undecided
from stablessm.calculus.special import DECREASING
from stablessm.theory.bounds import Bound, Quantity, limits_of, modulus_of
from stablessm.theory.problem import S, W
from stablessm.theory.signs import constant_sign
from stablessm.theory.zeros import zeros_on

_LARGEST = 150
"""Operations in a quantity beyond which its derivative is not looked at."""

_LARGEST_SLOPE = 60
"""Operations in a derivative beyond which its zeros are not looked for: the supremum is then left open."""


def with_supremum(bound: Bound) -> Bound:
    """The bound with the values among which the supremum is, where they are found in closed form."""
    if bound.blow_ups or bound.constant is not None:
        return bound
    quantities = list(dict.fromkeys(q for q, _, _, _ in bound.limits))
    if any(q.form is not None and q.form.has(*DECREASING) for q in quantities):
        found = _below_envelope(quantities, bound)
        if found.values or not all(q.decay.is_polynomial(W) for q in quantities):
            return found
    values = [(modulus_of(limit), point, False) for _, point, _, limit in bound.limits]
    try:
        for q in quantities:
            if q.expression.count_ops() > _LARGEST:
                return bound
            slope = normal(sympy.diff(normal(q.expression), W))
            if slope == 0:
                values.append((modulus_of(q.expression), None, True))
                continue
            if slope.count_ops() > _LARGEST_SLOPE:
                return bound
            for point in zeros_on(slope, W, q.lower, q.upper):
                values.append((modulus_of(normal(q.expression.subs(W, point))), point, True))
    except Undecided:
        return bound
    return replace(bound, values=tuple(_largest(values)))


def _below_envelope(quantities: list[Quantity], bound: Bound) -> Bound:
    """The supremum of a product with functions of the decay below 1, where it is that of the other factors.

    It is at most that; and it is that if the product tends to it.
    """
    plain = []
    for q in quantities:
        factors = sympy.Mul.make_args(q.form)
        if q.form.is_Add or not any(isinstance(factor, DECREASING) for factor in factors):
            return bound
        rest = sympy.Mul(*(factor for factor in factors if not isinstance(factor, DECREASING)))
        plain.append(Quantity(q.lower, q.upper, rest.subs(S, q.decay)))
    try:
        envelope = with_supremum(limits_of(plain))
    except Undecided:
        return bound
    reached = [
        (value, point, False)
        for value in {value for value, _, _ in envelope.values}
        for _, point, _, limit in bound.limits
        if len(envelope.values) == 1 and constant_sign(modulus_of(limit) - value) == 0
    ]
    return replace(bound, values=tuple(reached[:1]))


def _largest(values):
    """The values that may be the largest: those not known to lie below another, one of equal ones."""
    kept: list = []
    for value in values:
        signs = [constant_sign(value[0] - other[0]) for other in kept]
        if -1 in signs or (0 in signs and not value[2]):
            continue
        kept = [other for other, sign in zip(kept, signs, strict=True) if sign not in (0, 1)] + [value]
    return kept
