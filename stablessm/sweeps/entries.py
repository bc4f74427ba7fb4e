"""What a value of an axis is that is more than a number or a name: a labelled record, given by a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pydantic import BaseModel, ConfigDict


class Entry(BaseModel, ABC):
    """One value of an axis, resolved.

    Attributes:
        label: its value on the coordinate of the axis.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str

    @abstractmethod
    def record(self, link: str | None = None) -> Any:
        """Return what a measurement is built with, under `link` where that matters."""

    @abstractmethod
    def table(self) -> dict[str, Any]:
        """Return the table of a declaration that gives this entry back."""

    def identity(self) -> dict[str, Any]:
        """Return all that decides results: what is looked up by name counts with its formula."""
        return self.model_dump(mode="json")
