"""Verifying a map: every statement, each under its own time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from stablessm.calculus.outcomes import Undecided
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.numbers import quoted
from stablessm.theory.budget import OutOfTime, securing, time_limit
from stablessm.theory.certificate import Certificate
from stablessm.theory.criteria import criterion, gradient_over_weight, lipschitz
from stablessm.theory.curvature import curvature
from stablessm.theory.derivation import noting
from stablessm.theory.gradient import gradient_scale
from stablessm.theory.modulus import modulus
from stablessm.theory.problem import Problem, problem_of
from stablessm.theory.stability import stability
from stablessm.theory.statement import Statement
from stablessm.theory.vacuous import nothing_stable

STATEMENTS: dict[str, Callable[[Problem], Statement]] = {
    "stability": stability,
    "modulus": modulus,
    "gradient_scale": gradient_scale,
    "gradient_over_weight": gradient_over_weight,
    "lipschitz": lipschitz,
    "curvature": curvature,
    "criterion": criterion,
}
"""The statements by id, in the order of the contract."""

TIME_LIMIT = 10.0
"""Seconds of processor time for one statement."""


def verify(
    parameterization: Parameterization, *, limit: float = TIME_LIMIT, known: Mapping[str, Statement] | None = None
) -> Certificate:
    """Prove, refute or leave undecided what the theory says about a map.

    Everything is derived from the map's formula; its name plays no part. Constants without a value are positive
    symbols: a statement about them is proved when it holds for all positive values, else it carries its condition.

    Args:
        parameterization: the map.
        limit: seconds of processor time for each statement; one that takes longer is `undecided`.
        known: statements that were proved before, by id; they are taken as they are.

    Returns:
        The certificate.

    Raises:
        TypeError: it is no parameterization; a name or a formula makes one.

    Example:
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> best = PARAMETERIZATIONS["best"].replace(link="one-minus", constants={"b": 0.5})
        >>> statement = verify(best)["stability"]
        >>> statement.verdict, statement.condition, statement.counterexample.eigenvalue
        ('refuted', 'b > 1/2', -1.0)

    References: Wang and Li, StableSSM (ICML 2024), Definition 3.2, Theorem 3.4, Eq. 11.
    """
    if not isinstance(parameterization, Parameterization):
        raise TypeError(
            "verify takes a parameterization, such as PARAMETERIZATIONS['exp'] or "
            f"Parameterization.from_formula('exp(w)'), but got {quoted(parameterization)}"
        )
    known = known or {}
    problem = problem_of(
        parameterization.expression,
        parameterization.link,
        dict(parameterization.constants),
        parameterization.restrictions,
    )
    return Certificate(
        name=parameterization.name,
        formula=parameterization.formula,
        link=parameterization.link,
        constants=tuple(sorted(parameterization.constants.items())),
        statements=tuple(
            known[identity] if identity in known else timed(identity, prove, problem, limit)
            for identity, prove in STATEMENTS.items()
        ),
    )


def timed(identity: str, prove: Callable[[Problem], Statement], problem: Problem, limit: float) -> Statement:
    """One statement with its time, undecided where the proof gives up, breaks down or takes too long.

    A symbolic engine may fail in any way on a formula it was never tried on; that must cost the verdict of one
    statement, not the page, and the verdict says what happened.
    """
    start, used = time.perf_counter(), time.process_time()
    statement, tried = None, ""
    try:
        with noting() as steps, securing() as kept, time_limit(limit) as passed:
            statement = prove(problem)
            statement = replace(statement, derivation=tuple(steps))
    except OutOfTime:
        pass
    except Undecided as reason:
        tried = str(reason)
    except Exception as error:
        tried = f"stopped by {type(error).__name__} {(str(error).splitlines() or [''])[0]}"
    seconds = time.perf_counter() - start
    if passed.is_set() or time.process_time() - used >= limit:
        # Even a result is not taken: the interruption may have been swallowed inside a comparison and turned it. What
        # was finished before the limit is.
        statement = Statement(identity, "undecided", f"undecided (time): tried for {limit:g} s")
        early = [one for when, one in kept if when - used < limit]
        if early:
            statement = replace(early[-1], derivation=tuple(steps))
    late = statement is not None and statement.expression.startswith("undecided (time)")
    if (statement is None or statement.verdict == "undecided") and not late:
        statement = _vacuous(identity, problem, limit) or statement
    if statement is None:
        statement = Statement(identity, "undecided", problem.rename(f"tried: {tried}"))
    return replace(statement, seconds=seconds)


def _vacuous(identity: str, problem: Problem, limit: float) -> Statement | None:
    """The refutation, if no weight is stable, which an undecided statement may be due to."""
    try:
        with time_limit(limit):
            return nothing_stable(identity, problem)
    except (OutOfTime, Exception):
        return None
