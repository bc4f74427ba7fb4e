"""Closed forms of targets: their L2 norm over t >= 0 and their Laplace transform, to many digits (mpmath)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mpmath import mp, mpf

from stablessm.targets.errors import TargetError
from stablessm.targets.record import Target

Number = Any


@dataclass(frozen=True)
class ClosedForm:
    """What is known of a formula.

    Attributes:
        square: constants -> int_0^inf rho(t)^2 dt, infinite where it diverges.
        transform: (s, constants) -> int_0^inf rho(t) e^{-st} dt for Re s > 0; None where there is no closed form.
    """

    square: Callable[..., Number]
    transform: Callable[..., Number] | None = None


def _gaussian(a: Number, b: Number, m: Number) -> Number:
    """int_0^inf e^{-a t - b (t - m)^2} dt, the square completed."""
    return mp.sqrt(mp.pi / b) / 2 * mp.exp(a * a / (4 * b) - a * m) * mp.erfc(mp.sqrt(b) * (a / (2 * b) - m))


def _polynomial_square(c: Number, p: Number) -> Number:
    return 1 / (c * (2 * p - 1)) if 2 * p > 1 else mp.inf


# Keyed by the formula, and not by the name: another label changes nothing.
CLOSED_FORMS: Mapping[str, ClosedForm] = MappingProxyType(
    {
        "exp(-r*t)": ClosedForm(lambda r: 1 / (2 * r), lambda s, r: 1 / (s + r)),
        # E_p is the generalised exponential integral; (1 + t)^-p is a positive mixture of exponentials.
        "(1 + c*t)^-p": ClosedForm(_polynomial_square, lambda s, c, p: mp.exp(s / c) * mp.expint(p, s / c) / c),
        "sin(t)": ClosedForm(lambda: mp.inf, lambda s: 1 / (s * s + 1)),
        "step(t - 9)*step(11 - t)": ClosedForm(lambda: mpf(2), lambda s: (mp.exp(-9 * s) - mp.exp(-11 * s)) / s),
        "exp(-t) + exp(-(t - 9)^2)": ClosedForm(
            lambda: mpf(1) / 2 + 2 * _gaussian(mpf(1), mpf(1), mpf(9)) + _gaussian(mpf(0), mpf(2), mpf(9)),
            lambda s: 1 / (s + 1) + _gaussian(s, mpf(1), mpf(9)),
        ),
        # x Ai^2 - Ai'^2 is the integral of Ai^2; the transform over a half-line is an incomplete Airy integral.
        "airy(t - 6)": ClosedForm(lambda: 6 * mp.airyai(-6) ** 2 + mp.airyai(-6, derivative=1) ** 2),
    }
)


def norm(target: Target, *, digits: int = 30) -> mpf:
    """Return the L2 norm sqrt(int_0^inf rho^2 dt) of a target, infinite where it diverges.

    Args:
        target: one whose formula is in `CLOSED_FORMS`.
        digits: decimal digits of the working precision.

    Raises:
        TargetError: there is no closed form.

    Example:
        >>> from stablessm.targets import TARGETS
        >>> float(norm(TARGETS["exponential"]) ** 2)
        0.5
    """
    with mp.workdps(digits):
        return mp.sqrt(_form(target).square(**_constants(target)))


def transform(target: Target, s: complex, *, digits: int = 30) -> Number:
    """Return the Laplace transform int_0^inf rho(t) e^{-st} dt of a target.

    Args:
        target: one whose formula is in `CLOSED_FORMS`.
        s: a number of positive real part.
        digits: decimal digits of the working precision.

    Raises:
        TargetError: there is no closed form, or `s` has no positive real part.

    Example:
        >>> from stablessm.targets import TARGETS
        >>> float(transform(TARGETS["exponential"], 1.0))
        0.5
    """
    form = _form(target).transform
    if form is None:
        raise TargetError(f"the transform of the target {target.name!r} has no closed form")
    if not complex(s).real > 0:
        raise TargetError(f"a transform is taken at a number of positive real part, but got {s}")
    with mp.workdps(digits):
        return form(mp.convert(s), **_constants(target))


def _form(target: Target) -> ClosedForm:
    if target.formula not in CLOSED_FORMS:
        known = ", ".join(CLOSED_FORMS)
        raise TargetError(f"the target {target.name!r} has no closed form; the formulas that have one: {known}")
    return CLOSED_FORMS[target.formula]


def _constants(target: Target) -> dict[str, mpf]:
    return {name: mpf(repr(value)) for name, value in target.values}
