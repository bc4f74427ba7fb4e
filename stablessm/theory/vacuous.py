"""Statements about the stable weights of a map that has none."""

import sympy

from stablessm.theory.domain import stable_cells
from stablessm.theory.problem import Problem
from stablessm.theory.stability import failure_text, gaps_of, unstable_weight
from stablessm.theory.statement import Statement
from stablessm.theory.witness import counterexample_at


def nothing_stable(identity: str, problem: Problem) -> Statement | None:
    """The refutation of a statement about the stable weights of a map that has none; None where it has some.

    Raises:
        Undecided: the stable set was not found.
    """
    if stable_cells(problem.specialised()):
        return None
    values = dict.fromkeys(problem.constants, sympy.Integer(1)) | dict(problem.values)
    witness = unstable_weight(problem, values, gaps_of(problem.specialised()))
    if witness is None:
        return None
    example = counterexample_at(problem, witness, values)
    return Statement(identity, "refuted", f"no weight is stable; {failure_text(example)}", "never", example)
