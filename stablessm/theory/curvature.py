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

from dataclasses import replace

import sympy

from stablessm.calculus.limits import tidy
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounded import bounded
from stablessm.theory.budget import secure
from stablessm.theory.derivation import note
from stablessm.theory.domain import Cell, stable_cells, under_stability
from stablessm.theory.gradient import agree_on
from stablessm.theory.inverse import inverse_of
from stablessm.theory.problem import Problem, S, W
from stablessm.theory.quantities import expression_of, quantities_of
from stablessm.theory.statement import Statement


def largest_step(problem: Problem, cell: Cell) -> sympy.Expr | None:
    """The largest stable step as a function of the decay s, or None where it is none or the decay is not inverted.

    A decay that is not monotone has two weights at one s, which may have different steps.
    """
    try:
        weight = inverse_of(cell.decay)
    except Undecided:
        return None
    # Written through s, then w(s) for what is left of w.
    slope = sympy.simplify(sympy.diff(cell.decay, W).subs(W, weight))
    if slope == 0:
        return None
    if problem.link == "continuous":
        step = tidy(4 * S**3 / slope**2)
    else:
        q = problem.eigenvalue_of(S)
        slope = slope * (sympy.exp(-S) if cell.branch == "exp" else 1)
        step = tidy((1 - q**2) ** 3 / ((1 + q**2) * slope**2))
    own = expression_of("curvature", cell, problem.link)
    return step if agree_on(cell, (1 / step).subs(S, cell.decay), own) else None


def curvature(problem: Problem) -> Statement:
    """Is the largest stable gradient-descent step bounded away from 0 over all memory lengths?"""

    second = "f'^2/(2 s^3)" if problem.link == "continuous" else "2 f'^2 (1 + f^2)/(1 - f^2)^3"
    note(
        problem, f"the loss has the second derivative ${second}$ at its optimum; the largest stable step is 2 over that"
    )

    form = "4 s^3/f'^2" if problem.link == "continuous" else "(1 - f^2)^3/((1 + f^2) f'^2)"
    statement = bounded("curvature", problem, lambda case: ("1/step", quantities_of(case, "curvature")))
    if statement.verdict == "undecided":
        return statement
    secure(statement)
    shown = _step_text(problem)
    return statement.preceded(f"largest stable step {form}" + (f" = {shown}" if shown else ""))


def _step_text(problem: Problem) -> str:
    """The largest stable step as a function of the decay; nothing where that is not inverted."""
    for case_of in (lambda: problem, lambda: under_stability(replace(problem, values=()))[0], problem.specialised):
        try:
            case = case_of()
            cells = stable_cells(case)
        except Undecided:
            continue
        moving = [cell for cell in cells if sympy.diff(cell.decay, W) != 0]
        steps = [largest_step(case, cell) for cell in moving]
        return "" if None in steps else " or ".join(dict.fromkeys(case.text(step) for step in steps))
    return ""
