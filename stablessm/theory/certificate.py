"""The certificate of a map: all statements about it, as data and as a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stablessm.theory.statement import Statement

if TYPE_CHECKING:
    from rich.console import RenderableType

IDS = ("stability", "modulus", "gradient_scale", "gradient_over_weight", "lipschitz", "curvature", "criterion")
"""The statements, in the order of the contract."""

SCHEMA = 1
"""Version of the JSON form."""

_COLOURS = {"proved": "green", "refuted": "red", "undecided": "yellow"}


@dataclass(frozen=True)
class Certificate:
    """What is proved, refuted and left undecided about one map.

    Attributes:
        name: the map's name.
        formula: text of its decay s(w).
        link: how the decay becomes an eigenvalue.
        constants: values of its constants, as (name, value) pairs.
        statements: the statements, in the order of the contract.

    Example:
        >>> from stablessm.parameterizations import PARAMETERIZATIONS
        >>> from stablessm.theory import verify
        >>> verify(PARAMETERIZATIONS["best"])["stability"].verdict
        'proved'
    """

    name: str
    formula: str
    link: str
    constants: tuple[tuple[str, float], ...]
    statements: tuple[Statement, ...]

    def __getitem__(self, identity: str) -> Statement:
        """The statement with an id.

        Raises:
            KeyError: there is no such statement.
        """
        for statement in self.statements:
            if statement.id == identity:
                return statement
        raise KeyError(f"{identity!r} is not one of {', '.join(s.id for s in self.statements)}")

    def to_json(self) -> dict:
        """The certificate as a document of its own, ready for `json.dumps`."""
        return document([self])

    def entry(self) -> dict:
        """The map's entry in a document."""
        return {
            "name": self.name,
            "formula": self.formula,
            "link": self.link,
            "constants": dict(self.constants),
            "statements": [statement.to_json() for statement in self.statements],
        }

    def _repr_html_(self) -> str:
        """Show the certificate in a notebook: each statement, its verdict and its grounds."""
        from stablessm.notebook import table

        rows = [
            (one.id, one.verdict, "; ".join(text if own is None else f"{own}: {text}" for own, text in one.grounds()))
            for one in self.statements
        ]
        return table(f"{self.name}: s(w) = {self.formula}, link {self.link}", ("statement", "verdict", "grounds"), rows)

    def page(self) -> RenderableType:
        """The certificate as a page for the terminal: the verdict in words and colour, then its grounds."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        values = ", ".join(f"{name} = {value:g}" for name, value in self.constants)
        relation = {"continuous": "lambda = -s", "one-minus": "lambda = 1 - s", "exponential": "lambda = exp(-s)"}
        title = Text.assemble((self.name, "bold"), f"   s(w) = {self.formula}   {relation[self.link]}   {values}")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), expand=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        for statement in self.statements:
            verdict = Text(statement.verdict, style=f"bold {_COLOURS[statement.verdict]}")
            table.add_row(statement.id, verdict, Text(_grounds(statement)))
        return Group(title, table, Text())


def _grounds(statement: Statement) -> str:
    lines = [text if own is None else f"{own}: {text}" for own, text in statement.grounds()]
    return "\n".join([*lines, f"{statement.method}, {statement.seconds:.2f} s"])


def document(certificates: Iterable[Certificate]) -> dict:
    """Several certificates as one JSON document."""
    return {"schema": SCHEMA, "maps": [certificate.entry() for certificate in certificates]}
