"""The steps that lead to a verdict, as text and as LaTeX.

A proof notes its steps while it runs; what an abandoned attempt has noted is dropped. A step is a template: what stands
between dollar signs is mathematics, and {} in it an expression, written in the user's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import sympy

from stablessm.theory.problem import Problem

Step = tuple[str, str]
"""A step as text and as LaTeX."""

_NOTES: ContextVar[list[Step] | None] = ContextVar("steps of the proof that runs", default=None)
_SIGNS = {"->": r"\to ", "<=": r"\le ", ">=": r"\ge ", "lambda": r"\lambda ", "tau": r"\tau ", "beta": r"\beta ",
          "sup": r"\sup ", "ln": r"\ln ", "w~": r"\tilde w", "phi": r"\varphi "}  # fmt: skip
_LONGEST = 600
"""Characters of LaTeX in one expression beyond which it is left out."""


@contextmanager
def noting() -> Iterator[list[Step]]:
    """Collect the steps that are noted in the body."""
    steps: list[Step] = []
    token = _NOTES.set(steps)
    try:
        yield steps
    finally:
        _NOTES.reset(token)


@contextmanager
def attempt() -> Iterator[None]:
    """Drop the steps of the body if it gives up."""
    steps = _NOTES.get()
    before = len(steps) if steps is not None else 0
    try:
        yield
    except BaseException:
        if steps is not None:
            del steps[before:]
        raise


def note(problem: Problem, template: str, *expressions: Any) -> None:
    """Note a step.

    Args:
        problem: whose names the constants have.
        template: words, with mathematics between dollar signs and {} for each expression.
        *expressions: SymPy expressions, or texts.

    Example:
        >>> from stablessm.theory.problem import W, problem_of
        >>> with noting() as steps:
        ...     note(problem_of(W**2, "continuous"), "the slope is $s'(w) = {}$", 2 * W)
        >>> steps
        [("the slope is s'(w) = 2*w", "the slope is $s'(w) = 2 w$")]
    """
    steps = _NOTES.get()
    if steps is None:
        return
    texts = [problem.text(one) for one in expressions]
    formulas = [problem.latex(one) for one in expressions]
    text = template.replace("$", "").format(*texts)
    if any(len(formula) > _LONGEST for formula in formulas):
        formulas = [formula if len(formula) <= _LONGEST else r"\ldots" for formula in formulas]
    parts = template.split("$")
    parts[1::2] = [_mathematics(part) for part in parts[1::2]]
    parts[::2] = [part.replace("%", r"\%") for part in parts[::2]]
    step = text, "$".join(parts).format(*formulas)
    if step not in steps:
        steps.append(step)


def _mathematics(part: str) -> str:
    return re.sub(r"->|<=|>=|w~|\b(?:lambda|tau|beta|sup|ln|phi)\b", lambda found: _SIGNS[found.group()], part)


def interval(problem: Problem, lower: sympy.Expr, upper: sympy.Expr) -> tuple[str, tuple[sympy.Expr, ...]]:
    """Where a piece lies, as the end of a template and its expressions; nothing for the whole line."""
    if (lower, upper) == (-sympy.oo, sympy.oo):
        return "", ()
    return " for ${} < w < {}$", (lower, upper)
