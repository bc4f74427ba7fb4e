"""Statements `gradient_over_weight`, `lipschitz` and `criterion`: the reasoning that leads to `best`.

*Gradient over weight.* A step of gradient descent keeps its size relative to the weight when |f'|/(f^2 |w|) <= L
(discrete: 1 - |f| in place of |f|).

*Equation 11.* The gradient is Lipschitz in the weight when tau'' is bounded, tau = 1/|f| (discrete: tau = 1/(1 - f)).

*The criterion's solution.* Asking for f'/f^2 = 2 a w makes the first ratio 2 a for every w. With tau this is
tau' = 2 a w, hence tau = a w^2 + b and f = -1/(a w^2 + b); in discrete time f'/(1 - f)^2 = 2 a w gives
f = 1 - 1/(a w^2 + b). The general solution comes from SymPy's `dsolve` and is put back into the equation.
"""

from dataclasses import replace
from functools import lru_cache

import mpmath
import sympy

from stablessm.calculus.approach import TRIAL_VALUES
from stablessm.calculus.enclosure import value_at
from stablessm.calculus.limits import normal
from stablessm.calculus.outcomes import Undecided
from stablessm.theory.bounded import bounded
from stablessm.theory.derivation import interval, note
from stablessm.theory.domain import decaying
from stablessm.theory.gradient import FORMS, over_weight_by_decay, scale_cells
from stablessm.theory.jumps import jump_of
from stablessm.theory.problem import Problem, W
from stablessm.theory.quantities import quantities_of
from stablessm.theory.signs import inner_points, sign_on
from stablessm.theory.statement import Statement
from stablessm.theory.witness import counterexample_at


def gradient_over_weight(problem: Problem) -> Statement:
    """Is the gradient scale divided by the size of the weight bounded over the stable weights?"""
    name = FORMS[problem.link].replace("f^2", "(f^2 |w|)").replace("(1 - |f|)^2", "((1 - |f|)^2 |w|)")

    statement = bounded(
        "gradient_over_weight", problem, lambda case: (name, quantities_of(case, "gradient_over_weight"))
    )
    try:
        by_decay = over_weight_by_decay(problem, scale_cells(problem))
    except Undecided:
        by_decay = ""
    if statement.verdict == "undecided" or not by_decay:
        return statement
    return replace(statement, expression=f"{statement.expression}; {by_decay}")


def lipschitz(problem: Problem) -> Statement:
    """Is tau'' bounded over the weights with s > 0 (Equation 11)?"""
    name = "|tau''|, tau = 1/|f|," if problem.link == "continuous" else "|tau''|, tau = 1/(1 - f),"
    margin = "|f|" if problem.link == "continuous" else "(1 - f)"
    note(problem, f"the gradient scale is $|tau'|$, $tau = 1/{margin}$: it is Lipschitz exactly if $tau''$ is bounded")
    tried, jump = [], None
    for case in dict.fromkeys((problem, problem.specialised())):
        try:
            jump = jump_of(decaying(case), lambda cell: sympy.diff(1 / cell.margin(), W))
            break
        except Undecided as reason:
            tried.append(str(reason))
    else:
        return Statement("lipschitz", "undecided", problem.rename(f"tried: {'; '.join(dict.fromkeys(tried))}"))
    if jump is None:
        return bounded("lipschitz", problem, lambda case: (name, quantities_of(case, "lipschitz")))
    values = dict.fromkeys(problem.constants, sympy.Integer(1)) | dict(problem.values)
    point, left, right = (problem.text(part) for part in jump)
    shown = f"{name} is not bounded: tau' jumps from {left} to {right} at w = {point}"
    return Statement(
        "lipschitz", "refuted", shown, "never" if case == problem else None, counterexample_at(problem, jump[0], values)
    )


@lru_cache(maxsize=2)
def solution(discrete: bool) -> tuple[sympy.Expr, sympy.Expr]:
    """The general solution f(w) of the criterion's equation, with the equation it solves.

    Args:
        discrete: f'/(1 - f)^2 = 2 a w instead of f'/f^2 = 2 a w.

    Returns:
        (f, equation): f in w, a and b, the constant of integration written as b; the equation as text-free SymPy.

    Raises:
        Undecided: the solver's answer does not satisfy the equation.
    """
    a, b = sympy.symbols("a b", positive=True)
    f = sympy.Function("f")
    size = 1 - f(W) if discrete else f(W)
    equation = sympy.Eq(sympy.Derivative(f(W), W) / size**2, 2 * a * W)
    solved = sympy.dsolve(equation, f(W), hint="separable")
    free = next(symbol for symbol in solved.free_symbols if symbol not in (a, W))
    signed = solved.rhs.subs(free, b)
    shape = (1 if discrete else 0) - 1 / (a * W**2 + b)
    result = shape if normal(signed - shape) == 0 else sympy.factor(signed)
    if normal(equation.lhs.subs(f(W), result).doit() - equation.rhs) != 0:
        raise Undecided(f"{result} in {equation}")
    return result, equation


def criterion(problem: Problem) -> Statement:
    """Does the map solve f'/f^2 = 2 a w (discrete: f'/(1 - f)^2 = 2 a w) for some a > 0?"""
    discrete = problem.link != "continuous"
    form = "f'/(1 - f)^2 = 2 a w" if discrete else "f'/f^2 = 2 a w"
    margin = "1 - f" if discrete else "|f|"
    note(problem, f"with $tau = 1/({margin})$ the equation ${form}$ reads $tau' = 2 a w$, hence $tau = a w^2 + b$; the "
                  "general solution, put back, satisfies it")  # fmt: skip
    solved = f"{form} has the solutions f = {solution(discrete)[0]}"
    for case in dict.fromkeys((problem, problem.specialised())):
        try:
            ratios = _ratios(case)
        except Undecided:
            if case.constants == problem.specialised().constants:
                raise
            continue
        if not ratios:
            return Statement("criterion", "undecided", f"{solved}; tried: a stable weight; there is none")
        level = next(iter(ratios.values()))
        for (lower, upper), ratio in ratios.items():
            where, ends = interval(case, lower, upper)
            note(case, f"this map has $tau'/w = {{}}${where}", ratio, *ends)
        constant = set(ratios.values()) == {level} and W not in level.free_symbols
        if constant and sign_on(level, W, *next(iter(ratios))) == 1:
            names = ", ".join(f"{symbol} > 0" for symbol in case.constants)
            shown = f"{solved}; this map is one of them, with 2 a = {problem.text(level)}"
            return Statement("criterion", "proved", shown, problem.rename(f"all {names}") if names else None)
    return _not_a_solution(problem, solved, ratios)


def _ratios(case: Problem) -> dict[tuple[sympy.Expr, sympy.Expr], sympy.Expr]:
    """f'/(f^2 w) on each cell: 2 a for a solution."""
    return {(c.lower, c.upper): normal(sympy.diff(1 / c.margin(), W) / W) for c in decaying(case)}


def _not_a_solution(problem, solved, ratios):
    """Two weights at which the ratio differs refute it: for a solution it is 2 a at both."""
    given = dict(problem.values)
    values = {symbol: given.get(symbol, TRIAL_VALUES[0]) for symbol in problem.constants}
    seen = []
    for (lower, upper), ratio in ratios.items():
        for point in [sympy.Integer(n) for n in (1, 2, -1, -2)] + inner_points(lower, upper):
            weight = point.subs(values)
            if not lower.subs(values) < weight < upper.subs(values):
                continue
            try:
                size = value_at(ratio.subs(values), {W: weight})
            except ArithmeticError:
                continue
            if size <= 0 or (seen and abs(size - seen[0][1]) > 1e-12 * (abs(size) + abs(seen[0][1]))):
                shown = "; ".join(f"f'/(f^2 w) = {_six(v)} at w = {p}" for p, v in [*seen, (weight, size)])
                shown = shown.replace("f^2", "(1 - f)^2") if problem.link != "continuous" else shown
                example = counterexample_at(problem, weight, values)
                condition = None if problem.constants else "never"  # other constants may make it a solution
                return Statement("criterion", "refuted", f"{solved}; this map is none: {shown}", condition, example)
            seen = seen or [(weight, size)]
    return Statement("criterion", "undecided", f"{solved}; tried: two weights at which the ratio differs")


def _six(value: mpmath.mpf) -> str:
    """Six digits, also of a number too small for a float."""
    return f"{float(value):.6g}" if float(value) or not value else mpmath.nstr(value, 6)
