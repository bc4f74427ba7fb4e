"""A sweep as data: a declaration (TOML) read, validated as a whole and resolved into a frozen `Spec`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from stablessm.sweeps.axes import AXES
from stablessm.sweeps.entries import Entry

_COMPUTING = ("measurement", "axes", "settings", "chunk")


class Spec(BaseModel):
    """One experiment at one scale, everything in it checked; made by `load_spec` in `declarations.py`.

    Attributes:
        name: names the files; of a-z, 0-9, _ and -.
        measurement: key of the measurement.
        title: a line for the report.
        description: a paragraph for the report.
        analyses: names of the reductions of its dataset.
        figures: names of the figures of its datasets.
        scale: "quick" or "full".
        axes: values of every axis, in the order of the dataset's dimensions; maps and a user's targets are
            entries.
        settings: every setting of the measurement, defaults included.
        chunk: cells in one work item.
        chunk_from: who decided it: "user" (the command line, or an argument), "declaration", "auto" (a first guess, to
            be fitted to the device) or "default". Only a user's own holds against that of a sweep that is there
            already. Not part of the document.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    measurement: str
    title: str = ""
    description: str = ""
    analyses: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    scale: Literal["quick", "full"] = "quick"
    axes: dict[str, tuple[Any, ...]]
    settings: dict[str, Any]
    chunk: int
    chunk_from: Literal["user", "declaration", "auto", "default"] = Field(default="declaration", exclude=True)

    @property
    def static_axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes that are looped, in order."""
        return {name: values for name, values in self.axes.items() if AXES[name].static}

    @property
    def traced_axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes that are vmapped, from the outermost (seed) to the innermost (learning_rate)."""
        return {name: values for name, values in self.axes.items() if not AXES[name].static}

    def coordinates(self) -> dict[str, list[Any]]:
        """Return what each axis shows on its coordinate: numbers, names, and for maps their labels."""
        return {
            name: [value.label if isinstance(value, Entry) else value for value in values]
            for name, values in self.axes.items()
        }

    def document(self) -> dict[str, Any]:
        """Return the declaration, with every default and override written out, that gives this spec back."""
        axes = {
            name: [value.table() if isinstance(value, Entry) else value for value in values]
            for name, values in self.axes.items()
        }
        return {**self.model_dump(mode="json"), "axes": axes}

    def to_json(self) -> str:
        """Return the canonical text of `document()`: equal specs give equal text."""
        return _canonical(self.document())

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides the values: measurement, axes, settings and chunk."""
        document = self.document()
        document["axes"] = {name: [_identity(value) for value in values] for name, values in self.axes.items()}
        return hashlib.sha256(_canonical({key: document[key] for key in _COMPUTING}).encode()).hexdigest()


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say in which keys that decide the values two documents differ.

    Args:
        old: `Spec.document()` of the one there is.
        new: `Spec.document()` of the one asked for.

    Returns:
        One "key: OLD -> NEW" each; empty where they agree.
    """
    lines = []
    for key in _COMPUTING:
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            for name in sorted({*before, *after}):
                if _placeless(before.get(name)) != _placeless(after.get(name)):
                    lines.append(f"{key}.{name}: {_shown(before.get(name))} -> {_shown(after.get(name))}")
        elif before != after:
            lines.append(f"{key}: {_shown(before)} -> {_shown(after)}")
    return lines


def _identity(value: Any) -> Any:
    """An entry counts with what its name stands for, so that a changed catalogue is a different sweep."""
    return value.identity() if isinstance(value, Entry) else value


def _canonical(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _placeless(value: Any) -> Any:
    """Leave out where a file lies whose content is known."""
    if not isinstance(value, list):
        return value
    return [{k: v for k, v in one.items() if k != "file"} if isinstance(one, dict) and "sha256" in one else one
            for one in value]  # fmt: skip


def _named(one: Mapping[str, Any]) -> Any:
    content = f" (SHA-256 {one['sha256'][:12]}...)" if "sha256" in one else ""
    return one.get("label", one) if not content else f"{one.get('label')}{content}"


def _shown(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, list):
        value = [_named(one) if isinstance(one, dict) else one for one in value]
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."
