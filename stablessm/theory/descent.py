r"""Gradient descent on x^4, x^2 and sqrt|x|: why a gradient that is Lipschitz in the weight matters.

With the step x -> x - eta V'(x):

| V       | V'          | what happens                                                                       |
|---------|-------------|------------------------------------------------------------------------------------|
| x^4     | unbounded slope | diverges exactly from abs(x_0) > 1/sqrt(2 eta), else goes to 0 (a two-cycle in between) |
| x^2     | L = 2       | goes to 0 from anywhere for 0 < eta < 1 = 2/L, diverges for eta > 1                  |
| sqrt\|x\| | unbounded at 0 | never settles at 0, whatever eta: closer than (eta/4)^(2/3) it is thrown out again |

Each is proved by an identity that SymPy verifies (`proof`): with it the argument is a sentence about signs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class Potential:
    """A function of one variable to be descended.

    Attributes:
        name: its key.
        formula: V(x).
        slope: V'(x) for x > 0; odd.
        scale: the distance from 0 that decides, as a function of the step eta; 1 where none does.
        claim: what gradient descent does.
        identities: (left, right) in x, u and eta, equal for all positive values, from which the claim follows.
        argument: how.
    """

    name: str
    formula: str
    slope: str
    scale: str
    claim: str
    identities: tuple[tuple[str, str], ...]
    argument: str


POTENTIALS: Mapping[str, Potential] = MappingProxyType({one.name: one for one in (
    Potential(
        name="quartic", formula="x**4", slope="4*x**3", scale="1/sqrt(2*eta)",
        claim="diverges exactly where |x_0| > 1/sqrt(2 eta), and goes to 0 where it is smaller",
        identities=(
            ("(x - eta*4*x**3)**2 - x**2", "8*eta*x**4*(2*eta*x**2 - 1)"),
            ("(x - eta*4*x**3)/x", "1 - 4*eta*x**2"),
        ),
        argument="|x| grows exactly where 2 eta x^2 > 1, by the factor 4 eta x^2 - 1 > 1, which grows with it; below, "
        "|x| decreases, and a limit other than 0 would be a fixed point or the two-cycle at 2 eta x^2 = 1 above it",
    ),
    Potential(
        name="quadratic", formula="x**2", slope="2*x", scale="1",
        claim="goes to 0 from anywhere for 0 < eta < 1, and diverges for eta > 1",
        identities=(("x - eta*2*x", "(1 - 2*eta)*x"), ("1 - (1 - 2*eta)**2", "4*eta*(1 - eta)")),
        argument="|x| is multiplied by |1 - 2 eta| at each step, which is below 1 exactly for 0 < eta < 1",
    ),
    Potential(
        name="root", formula="sqrt(abs(x))", slope="1/(2*sqrt(x))", scale="(eta/4)**(2/3)",
        claim="never settles: from |x| < (eta/4)^(2/3) it moves away from 0, and that two-cycle is unstable",
        identities=(
            ("u*(eta/4)**(2/3) - eta/(2*sqrt(u*(eta/4)**(2/3)))", "(eta/4)**(2/3)*(u - 2/sqrt(u))"),
            ("(2/sqrt(u) - u) - u", "2*(1 - u**(3/2))/sqrt(u)"),
            ("diff(x - eta/(2*sqrt(x)), x)", "1 + eta/(4*x**(3/2))"),
        ),
        argument="in units u of the two-cycle |x| becomes |2/sqrt(u) - u|, larger than u exactly where u < 1: no orbit "
        "can tend to 0, and V' is 0 nowhere; at u = 1 the step's slope is 2, so that the cycle's is 4",
    ),
)})  # fmt: skip


class Proof(NamedTuple):
    """A claim with the identities it rests on.

    Attributes:
        claim: what gradient descent does.
        argument: how it follows.
        identities: "left = right", in words of the formula.
        verified: whether SymPy simplifies every difference to 0, and the slope is the derivative of the potential.
    """

    claim: str
    argument: str
    identities: tuple[str, ...]
    verified: bool


def proof(potential: Potential) -> Proof:
    """Verify the identities of a potential.

    Example:
        >>> proof(POTENTIALS["quadratic"]).verified
        True
    """
    import sympy

    differences = [_parsed(left) - _parsed(right) for left, right in potential.identities]
    differences.append(sympy.diff(_parsed(potential.formula), _parsed("x")) - _parsed(potential.slope))
    verified = all(sympy.simplify(one) == 0 for one in differences)
    return Proof(
        potential.claim,
        potential.argument,
        tuple(f"{left} = {right}" for left, right in potential.identities),
        verified,
    )


def scale_of(potential: Potential, eta: float) -> float:
    """Return the distance from 0 that decides, at a step eta."""
    return float(_parsed(potential.scale).subs(_parsed("eta"), eta))


def _parsed(text: str) -> sympy.Expr:
    """An expression in positive x, u and eta; 2/3 and the like are exact."""
    import sympy

    known = {name: sympy.Symbol(name, positive=True) for name in ("x", "u", "eta")}
    return sympy.sympify(text, locals={**known, "abs": sympy.Abs, "diff": sympy.diff}, rational=True)
