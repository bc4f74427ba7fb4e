r"""How fast m modes can approximate (1 + c t)^-p, and how slow the slowest of them must be.

(1 + t)^-p = (1/Gamma(p)) int e^{p x - e^x} e^{-e^x t} dx is a positive mixture over x = ln s. The trapezoidal rule of
step h errs by about e^{-pi^2/h}, for the integrand is analytic in |Im x| < pi/2; leaving out s < e^{-L} costs
e^{-L(p - 1/2)} in L2. With m = L/h both are equal at

    L = pi sqrt(m/(p - 1/2)),         error e^{-pi sqrt((p - 1/2) m)}                 reached: a bound from above.

The best decays do twice as well a mode as equidistant ones, as a Gauss rule has twice the degree (2 pi^2/h):

    L = pi sqrt(2 m/(p - 1/2)),       error e^{-pi sqrt((2p - 1) m)}                  expected of best fits.

For 1/x in the maximum norm, where p - 1/2 is p = 1, Braess and Hackbusch prove the first form and conjecture the second
from computations. Over a finite horizon T the range of x that matters is fixed, and the error falls geometrically: they
prove e^{-pi^2 m/ln(8R)} for 1/x on [1, R], R = 1 + cT. The slowest decay goes to 0 root-exponentially over an infinite
horizon, like e^{-L}, and about like 1/m over a finite one.

References: Braess and Hackbusch, Approximation of 1/x by exponential sums in [1, infinity), IMA J. Numer. Anal. 25
(2005); the L2 forms and those of the slowest decay are this project's.
"""

from __future__ import annotations

import math


def quadrature_rate(power: float) -> float:
    """Return r of the bound error = O(e^{-r sqrt(m)}) over an infinite horizon, reached by equidistant ln s.

    Args:
        power: p > 1/2 of (1 + c t)^-p.

    Example:
        >>> round(quadrature_rate(1.5), 4) == round(math.pi, 4)
        True
    """
    return math.pi * math.sqrt(power - 0.5)


def best_rate(power: float) -> float:
    """Return the r expected of best fits, sqrt(2) times that of `quadrature_rate`."""
    return math.sqrt(2) * quadrature_rate(power)


def slowest_decay_rate(power: float) -> float:
    """Return r of the slowest decay e^{-r sqrt(m)} expected of best fits over an infinite horizon."""
    return math.pi * math.sqrt(2 / (power - 0.5))


def finite_rate(scale: float, horizon: float) -> float:
    """Return r of the bound error = O(e^{-r m}) over a finite horizon.

    Args:
        scale: c of (1 + c t)^-p.
        horizon: T.
    """
    return math.pi**2 / math.log(8 * (1 + scale * horizon))
