"""A statement about a map, and what came of it."""

from dataclasses import dataclass, field, replace

VERDICTS = ("proved", "refuted", "undecided")
"""What can come of a statement."""


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

    @staticmethod
    def from_json(found: dict) -> "CounterExample":
        """The counter-example of `to_json`.

        Raises:
            ValueError, TypeError, KeyError: it is none.
        """
        eigenvalue = found["eigenvalue"]
        constants = tuple((str(name), float(value)) for name, value in found.get("constants", {}).items())
        return CounterExample(float(found["weight"]), None if eigenvalue is None else float(eigenvalue), constants)

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
        derivation: the steps that lead to the verdict, each as text and as LaTeX.
    """

    id: str
    verdict: str
    expression: str
    condition: str | None = None
    counterexample: CounterExample | None = None
    method: str = "symbolic"
    seconds: float = 0.0
    derivation: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)

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

    @staticmethod
    def from_json(found: dict) -> "Statement":
        """The statement of `to_json`.

        Raises:
            ValueError, TypeError, KeyError: it is none.
        """
        example, condition = found["counterexample"], found["condition"]
        texts = [found[key] for key in ("id", "verdict", "expression", "method")]
        if not all(isinstance(text, str) for text in texts) or texts[1] not in VERDICTS:
            raise ValueError("no statement")
        if not (condition is None or isinstance(condition, str)):
            raise TypeError("a condition is a text")
        counterexample = None if example is None else CounterExample.from_json(example)
        steps = tuple((str(text), str(latex)) for text, latex in found.get("derivation", ()))
        return Statement(*texts[:3], condition, counterexample, texts[3], float(found["seconds"]), steps)
