"""A training run as data: what is trained on what, and how."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from stablessm.declared import Declared
from stablessm.tasks.architecture import Architecture
from stablessm.training.recipe import Recipe


class RunError(ValueError):
    """A run that cannot be: of another declaration than the one that is there, or of a file that is none."""


class Declaration(Declared):
    """One training run, everything in it checked; made by `load_declaration`.

    Attributes:
        name: names the files; of a-z, 0-9, _ and -.
        data: a data set, or the path of a file.
        options: what its loader takes.
        context: steps of a row of a text or a long series.
        parameterization: table {name | formula, constants, link, label} of the map of every layer that takes one.
        model: the network.
        recipe: how it is trained.
        seed: of the weights, the order of the rows and dropout.
        evaluate_every: steps between two looks at the validation rows; a twentieth of the steps by default.
        stop_after: looks in a row without a better one after which the run ends; 0 for never.
        records: how many steps are recorded, evenly spaced from the first.
        activations: precision in which features are held between layers.
    """

    name: str
    data: str
    options: dict[str, Any] = Field(default_factory=dict)
    context: int = Field(256, ge=1, le=2**20)
    parameterization: dict[str, Any]
    model: Architecture = Architecture()
    recipe: Recipe = Recipe()
    seed: int = Field(0, ge=0, lt=2**32)
    evaluate_every: int | None = Field(None, ge=1, le=10**7)
    stop_after: int = Field(0, ge=0, le=10**6)
    records: int = Field(500, ge=1, le=10**5)
    activations: Literal["float32", "bfloat16"] = "float32"

    @property
    def batches(self) -> int:
        """Batches in all, which a run counts as its steps: `accumulate` of them for each step of the optimiser."""
        return self.recipe.steps * self.recipe.accumulate

    @property
    def looks(self) -> tuple[int, ...]:
        """Steps after which the validation rows are looked at, the last step among them."""
        every = self.evaluate_every or -(-self.batches // 20)
        return (*range(every, self.batches, every), self.batches)

    def document(self) -> dict[str, Any]:
        """Return the declaration as JSON takes it, defaults written out."""
        return self.model_dump(mode="json")


def difference(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Say in which keys two documents differ, "key: OLD -> NEW" each.

    Args:
        old: `Declaration.document()` of the run that is there.
        new: that of the one asked for.

    Example:
        >>> difference({"seed": 0, "recipe": {"steps": 5}}, {"seed": 0, "recipe": {"steps": 9}})
        ['recipe.steps: 5 -> 9']
    """
    lines = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            lines += [f"{key}.{line}" for line in difference(before, after)]
        elif before != after:
            lines.append(f"{key}: {before} -> {after}")
    return lines
