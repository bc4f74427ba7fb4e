"""Statement `curvature`: is there one step size that is stable at every memory length?

One mode e^{-s t} is fitted to the target e^{-alpha t} by gradient descent on w, the loss being the integral of the
squared difference. At the optimum s = alpha the loss has the second derivative f'(w)^2/(2 alpha^3) in w, because
int (t e^{-alpha t})^2 dt = 1/(4 alpha^3), and gradient descent is stable for steps below

    step(alpha) = 2 / (f'^2/(2 alpha^3)) = 4 alpha^3 / f'(w)^2.

In discrete time, with sum_k (q^k - lambda^k)^2 and sum_k (k q^{k-1})^2 = (1 + q^2)/(1 - q^2)^3,

    step(q) = (1 - q^2)^3 / ((1 + q^2) f'(w)^2).

Unlike the gradient over the weight this does not change when the weight is shifted. Proved means that 1/step is bounded
over the stable weights, so that some step size serves all of them.
"""

import sympy

from stablessm.calculus.limits import normal, tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounded import bounded
from stablessm.theory.bounds import Quantity
from stablessm.theory.derivation import note
from stablessm.theory.domain import Cell, stable_cells
from stablessm.theory.inverse import inverse_of
from stablessm.theory.problem import Problem, S, W
from stablessm.theory.statement import Statement


def inverse_step(problem: Problem, cell: Cell) -> sympy.Expr:
    """1/step on a cell, as an expression of w."""
    if problem.link == "continuous":
        return cell.slope() ** 2 / (4 * cell.decay**3)
    q = problem.eigenvalue_of(cell.decay)
    # 1 - q^2 by way of the margin, which does not cancel: (1 - |q|)(1 + |q|).
    size = -q if cell.branch == "2-s" else q
    return (1 + q**2) * cell.slope() ** 2 / (cell.margin() * (1 + size)) ** 3


def largest_step(problem: Problem, cell: Cell) -> sympy.Expr | None:
    """The largest stable step as a function of the decay s, or None where the decay is not inverted."""
    try:
        weight = inverse_of(cell.decay)
    except Undecided:
        return None
    # Written through s, then w(s) for what is left of w.
    slope = sympy.simplify(sympy.diff(cell.decay, W).subs(W, weight))
    if slope == 0:
        return None
    if problem.link == "continuous":
        return tidy(4 * S**3 / slope**2)
    q = problem.eigenvalue_of(S)
    slope = slope * (sympy.exp(-S) if cell.branch == "exp" else 1)
    return tidy((1 - q**2) ** 3 / ((1 + q**2) * slope**2))


def curvature(problem: Problem) -> Statement:
    """Is the largest stable gradient-descent step bounded away from 0 over all memory lengths?"""

    second = "f'^2/(2 s^3)" if problem.link == "continuous" else "2 f'^2 (1 + f^2)/(1 - f^2)^3"
    note(
        problem, f"the loss has the second derivative ${second}$ at its optimum; the largest stable step is 2 over that"
    )

    def quantities(case):
        cells = stable_cells(case)
        steps = [step for step in (largest_step(case, cell) for cell in cells) if step is not None]
        shown = f" = {case.text(steps[0])}" if steps else ""
        form = "4 s^3/f'^2" if case.link == "continuous" else "(1 - f^2)^3/((1 + f^2) f'^2)"
        pieces = [Quantity(c.lower, c.upper, normal(inverse_step(case, c))) for c in cells]
        return f"largest stable step {form}{shown}; ", "1/step", pieces

    return bounded("curvature", problem, quantities)
