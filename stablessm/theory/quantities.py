"""The quantities that statements bound, written in the weight and the decay.

A quantity is one of the continuous link, an expression of w and S, times functions of S with values in (0, 1] under the
exponential link (`calculus/special.py`): so written its limits are those of a shorter expression (`tails.py`), and it
has no 0/0 where s -> 0, so that it can be enclosed on an interval that reaches there (`suprema.py`).
"""

import sympy

from stablessm.calculus.special import Chi, Phi, Psi
from stablessm.theory.bounds import Quantity
from stablessm.theory.domain import Cell, decaying, stable_cells
from stablessm.theory.problem import Problem, S, W


def expression_of(identity: str, cell: Cell, link: str) -> sympy.Expr:
    """The quantity of a statement on a cell, in w.

    Args:
        identity: modulus, gradient_over_weight, lipschitz or curvature.
        cell: a cell with its branch of the margin.
        link: of the map.
    """
    margin = cell.margin()
    if identity == "modulus":
        return cell.margin_slope() / margin
    if identity == "gradient_over_weight":
        return cell.slope() / margin**2 / W
    if identity == "lipschitz":
        return sympy.diff(1 / margin, W, 2)
    if link == "continuous":
        return cell.slope() ** 2 / (4 * cell.decay**3)
    # 1 - f^2 by way of the margin, which does not cancel: (1 - |f|)(1 + |f|).
    f = 1 - cell.decay if link == "one-minus" else sympy.exp(-cell.decay)
    size = -f if cell.branch == "2-s" else f
    return (1 + f**2) * cell.slope() ** 2 / (margin * (1 + size)) ** 3


def form_of(identity: str, cell: Cell, link: str) -> sympy.Expr:
    """The same in w, S and the functions of S."""
    first, second = sympy.diff(cell.decay, W), sympy.diff(cell.decay, W, 2)
    exponential = cell.branch == "exp"
    phi, psi, chi, half = (Phi(S), Psi(S), Chi(S), Chi(S / 2)) if exponential else (sympy.Integer(1),) * 4
    margin = 2 - S if cell.branch == "2-s" else S
    if identity == "modulus":
        return (-first if cell.branch == "2-s" else first) / margin * phi
    if identity == "gradient_over_weight":
        return first / margin**2 / W * psi
    if identity == "lipschitz":
        return 2 * first**2 / S**3 * half - second / S**2 * psi
    if link == "one-minus":  # (1 - |f|)(1 + |f|) = s (2 - s), whatever the sign of f
        return (1 + (1 - S) ** 2) * first**2 / (S * (2 - S)) ** 3
    return first**2 / (4 * S**3) * chi


def quantities_of(problem: Problem, identity: str) -> list[Quantity]:
    """The pieces of a statement's quantity.

    Raises:
        Undecided: the stable set was not found.
    """
    pieces: list[Quantity] = []
    for cell in decaying(problem) if identity == "lipschitz" else stable_cells(problem):
        own = expression_of(identity, cell, problem.link)
        form = form_of(identity, cell, problem.link) if _is_shorter(identity, cell, problem.link) else None
        piece = Quantity(cell.lower, cell.upper, own, form, cell.decay)
        pieces += piece.split_at_zero() if identity == "gradient_over_weight" else [piece]
    return pieces


def _is_shorter(identity, cell, link) -> bool:
    """Whether the form is shorter: where e^{-s} does not reduce to simpler functions, as for s = ln(1 + w^2)."""
    if link == "exponential":
        return isinstance(sympy.exp(-cell.decay), sympy.exp)
    return link == "one-minus" and identity == "curvature"
