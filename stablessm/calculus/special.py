"""Bounded functions of the decay that the exponential link brings in, each decreasing from 1 at 0 to 0.

With m = 1 - e^{-s} in place of s, slopes and curvatures of the continuous link are multiplied by

    phi(s) = s/(e^s - 1),    psi(s) = (s/2)^2/sinh(s/2)^2,    chi(s) = s^3 cosh(s)/sinh(s)^3.

Written with them a quantity has no 0/0 where s -> 0, so that it can be enclosed on an interval that reaches there.
"""

import sympy


class Phi(sympy.Function):
    """s/(e^s - 1)."""

    nargs = 1
    is_positive = True  # of s >= 0


class Psi(sympy.Function):
    """(s/2)^2/sinh(s/2)^2."""

    nargs = 1
    is_positive = True  # of s >= 0


class Chi(sympy.Function):
    """s^3 cosh(s)/sinh(s)^3."""

    nargs = 1
    is_positive = True  # of s >= 0


DECREASING = (Phi, Psi, Chi)
"""All of them."""

CLOSED = {
    Phi: lambda s: s / (sympy.exp(s) - 1),
    Psi: lambda s: (s / (sympy.exp(s / 2) - sympy.exp(-s / 2))) ** 2,
    Chi: lambda s: 4 * s**3 * (sympy.exp(s) + sympy.exp(-s)) / (sympy.exp(s) - sympy.exp(-s)) ** 3,
}
"""Their values in elementary functions, for s > 0."""

FAR = {
    Phi: lambda s: s * sympy.exp(-s),
    Psi: lambda s: s**2 * sympy.exp(-s),
    Chi: lambda s: 4 * s**3 * sympy.exp(-2 * s),
}
"""What they are up to a factor that tends to 1 as s -> oo."""

NEAR = {Phi: (1, sympy.Rational(1, 2)), Psi: (2, sympy.Rational(1, 12)), Chi: (4, sympy.Rational(1, 15))}
"""(n, k): the function is 1 - k s^n, up to higher powers, as s -> 0."""
