"""A statement about a map, and what came of it."""

from dataclasses import dataclass, replace

import sympy

from stablessm.calculus.enclosure import value_at
from stablessm.theory.problem import Problem, W
from stablessm.theory.restrictions import undefined_at
from stablessm.theory.signs import constant_sign


@dataclass(frozen=True)
class CounterExample:
    """A weight at which a statement fails.

    Attributes:
        weight: the weight.
        eigenvalue: lambda at the weight, None where it has no real value.
        constants: values chosen for constants that had none, as sorted pairs.
    """

    weight: float
    eigenvalue: float | None
    constants: tuple[tuple[str, float], ...] = ()

    def to_json(self) -> dict:
        """The schema's object; `constants` only where values were chosen."""
        plain = {"weight": self.weight, "eigenvalue": self.eigenvalue}
        return plain | ({"constants": dict(self.constants)} if self.constants else {})

    def text(self) -> str:
        """The weight, the eigenvalue and the constants chosen, in words."""
        eigenvalue = "not real" if self.eigenvalue is None else f"{self.eigenvalue:.10g}"
        chosen = "".join(f", {name} = {value:g}" for name, value in self.constants)
        return f"w = {self.weight:.10g}, eigenvalue {eigenvalue}{chosen}"


@dataclass(frozen=True)
class Statement:
    """A verdict with its grounds.

    Attributes:
        id: one of the contract's ids.
        verdict: "proved", "refuted" or "undecided".
        expression: what was found, as text; for an undecided statement what was tried.
        condition: the condition under which the statement holds, as text, or None if it needs none.
        counterexample: where it fails, if it does.
        method: "symbolic", "enclosure" (interval arithmetic) or "numeric" (a counter-example found by search).
        seconds: time taken.
    """

    id: str
    verdict: str
    expression: str
    condition: str | None = None
    counterexample: CounterExample | None = None
    method: str = "symbolic"
    seconds: float = 0.0

    def preceded(self, text: str) -> "Statement":
        """The statement with something said before what was found."""
        return replace(self, expression=f"{text}; {self.expression}")

    def grounds(self) -> list[tuple[str | None, str]]:
        """What was found, part by part, the condition and the counter-example: (what it is called, text)."""
        grounds: list[tuple[str | None, str]] = [(None, part) for part in self.expression.split("; ")]
        if self.condition:
            grounds.append(("holds for", self.condition))
        if self.counterexample:
            grounds.append(("counter-example", self.counterexample.text()))
        return grounds

    def to_json(self) -> dict:
        """The schema's object."""
        return {
            "id": self.id,
            "verdict": self.verdict,
            "expression": self.expression,
            "condition": self.condition,
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "method": self.method,
            "seconds": round(self.seconds, 3),
        }


def counterexample_at(problem: Problem, weight: sympy.Expr, values: dict) -> CounterExample:
    """The counter-example at a weight, its eigenvalue computed by interval arithmetic.

    Args:
        problem: the map.
        weight: an exact weight, an expression of the constants.
        values: values of all its constants; those not among the problem's own are recorded.
    """
    point = weight.subs(values)
    try:
        eigenvalue = None if undefined_at(problem, point, values) else _eigenvalue(problem, point, values)
    except ArithmeticError:
        eigenvalue = None
    names, given = dict(problem.names), dict(problem.values)
    chosen = sorted((names[symbol], float(value)) for symbol, value in values.items() if symbol not in given)
    return CounterExample(float(value_at(point, {})) + 0.0, eigenvalue, tuple(chosen))


def _eigenvalue(problem: Problem, point: sympy.Expr, values: dict) -> float:
    """The eigenvalue at a weight: 0 where it is exactly that, not the middle of an interval around it."""
    middle = value_at(problem.eigenvalue, values | {W: point})
    exact = problem.eigenvalue.subs(values).subs(W, point)
    return 0.0 if constant_sign(exact) == 0 else float(middle) + 0.0
