"""Bounded functions of the decay that the exponential link brings in, each decreasing from 1 at 0 to 0.

With m = 1 - e^{-s} in place of s, slopes and curvatures of the continuous link are multiplied by

    phi(s) = s/(e^s - 1),    psi(s) = (s/2)^2/sinh(s/2)^2,    chi(s) = s^3 cosh(s)/sinh(s)^3.

Written with them a quantity has no 0/0 where s -> 0, so that it can be enclosed on an interval that reaches there.
"""

import sympy


class Phi(sympy.Function):
    """s/(e^s - 1)."""

    nargs = 1


class Psi(sympy.Function):
    """(s/2)^2/sinh(s/2)^2."""

    nargs = 1


class Chi(sympy.Function):
    """s^3 cosh(s)/sinh(s)^3."""

    nargs = 1


DECREASING = (Phi, Psi, Chi)
"""All of them."""
