"""Targets on an axis: from names, formulas and files of a declaration to names and labelled records."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from stablessm.parameterizations.grammar import KERNEL_FUNCTIONS, parse
from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.entries import Entry
from stablessm.sweeps.errors import Where
from stablessm.sweeps.precision import refuse_lost_squares
from stablessm.targets import TARGETS, SampledTarget, Target, TargetError
from stablessm.targets.record import TIME

CORRELATED = "autocorrelation"
_KEYS = ("name", "formula", "constants", "file", "column", "sha256", "label")
_FORMS = f"a name, a file (.csv, .npy) or a table {{{' | '.join(_KEYS[:2])} | file, constants, column, label}}"
_PATH = re.compile(r"[^()*^]*\.[A-Za-z]\w*")


class TargetEntry(Entry):
    """One target of an axis that is not a built-in as it stands.

    Attributes:
        name: key in the registry; with a file, `autocorrelation`.
        formula: text of rho(t), for a user's formula.
        constants: every constant that has a value.
        file: path of the file of samples or of the series.
        column: name of its column; empty for the only one.
        sha256: of the bytes of that file: another content is another sweep.
    """

    name: str = ""
    formula: str = ""
    constants: dict[str, float] = Field(default_factory=dict)
    file: str = ""
    column: str = ""
    sha256: str = ""

    def record(self, link: str | None = None) -> Target | SampledTarget:
        """Return the target.

        Raises:
            TargetError: the formula or the file cannot be used, or the file has changed.
        """
        if self.file:
            return SampledTarget(
                self.label, self.file, self.column, correlated=self.name == CORRELATED, sha256=self.sha256
            ).pinned()
        if self.formula:
            return Target.from_formula(self.formula, constants=self.constants, name=self.label)
        return dataclasses.replace(TARGETS[self.name].replace(constants=self.constants), name=self.label)

    def table(self) -> dict[str, Any]:
        """Return the table of a declaration that gives this entry back: what is not empty."""
        return {key: value for key, value in self.model_dump(mode="json").items() if value}

    def identity(self) -> dict[str, Any]:
        """Return all that decides results: of a file its content, not its place."""
        built_in = {"formula": TARGETS[self.name].formula} if self.name and not self.file else {}
        return {**self.model_dump(mode="json", exclude={"file"}), **built_in}


def is_path(text: str) -> bool:
    """Return whether a text names a file rather than a target or a formula: it ends in a dot and letters."""
    return _PATH.fullmatch(text) is not None


def resolve_targets(raw: Any, where: Where) -> tuple[str | TargetEntry, ...]:
    """Return the targets of an axis: a built-in by its name, anything else as an entry.

    Args:
        raw: a list of names, paths and tables `{name | formula | file, constants, column, label}`.
        where: its place, for the error; a relative path of a declaration starts from the declaration's folder.

    Raises:
        SpecError: an unknown target, key or constant, a formula or file that cannot be used, or a target or label given
            twice.
    """
    items = list(raw) if isinstance(raw, list | tuple) else [raw]
    if not items:
        raise where.error(f"an axis needs at least one value: {_FORMS}")
    values = tuple(_value(item, where) for item in items)
    labels = [value.label if isinstance(value, TargetEntry) else value for value in values]
    for label, count in Counter(labels).items():
        if count > 1:
            raise where.error(f"each value may occur once on an axis, but got the target {label!r} twice")
    texts = [value for value in values if isinstance(value, TargetEntry) and value.formula]
    if len(texts) > 1:  # two texts can be one formula
        kernels = [(parse(one.formula, TIME, KERNEL_FUNCTIONS), *sorted(one.constants.items())) for one in texts]
        for one, kernel in zip(texts, kernels, strict=True):
            if kernels.count(kernel) > 1:
                raise where.error(f"each value may occur once on an axis, but got the target {one.formula!r} twice")
    return values


def check_targets(
    values: Sequence[str | TargetEntry], settings: Mapping[str, Any], where: Where, *, precision: str = "float32"
) -> None:
    """Refuse targets that the settings' longest horizon and step size cannot sample.

    Args:
        values: the targets of an axis.
        settings: the settings of the sweep.
        where: their place, for the error.
        precision: the narrowest one the sweep computes in.

    Raises:
        SpecError: too few samples in a file, a horizon too short for the kernel, nothing but zeros, or samples whose
            squares, which every loss sums, are lost at that precision.
    """
    if "horizon" not in settings:
        return
    longest = max(settings["horizon"], *settings.get("error_horizon", (1,)))
    for value in values:
        try:
            target = TARGETS[value] if isinstance(value, str) else value.record()
            target.check(longest, settings.get("step_size", 1.0))
            if isinstance(value, TargetEntry):
                samples = target.kernel(longest, step_size=settings.get("step_size", 1.0))
                refuse_lost_squares(value.label, float(abs(samples).max()), precision, where)
        except TargetError as error:
            raise where.error(str(error)) from None


def _value(item: Any, where: Where) -> str | TargetEntry:
    if isinstance(item, str):
        if item in TARGETS:
            return item
        if not is_path(item):
            raise where.unknown("target", item, TARGETS)
        item = {"file": item}
    if not isinstance(item, dict):
        raise where.error(f"a target must be {_FORMS}, but got {quoted(item)}")
    _check_table(item, where)
    if set(item) == {"name"}:
        return item["name"]
    label = item.get("label") or _label(item)
    given = {**item, "label": label}
    if "file" in item:
        try:
            given["file"] = str(Path(where.folder) / Path(item["file"]).expanduser())
        except RuntimeError:
            raise where.error(f"there is no such home folder: {quoted(item['file'])}") from None
    try:
        entry = TargetEntry(**{**given, "constants": {}})
        if entry.file:
            return entry.model_copy(update={"sha256": entry.record().sha256})
        entry = entry.model_copy(update={"constants": item.get("constants", {})})
        return entry.model_copy(update={"constants": entry.record().constants})
    except TargetError as error:
        raise where.error(str(error)) from None


def _check_table(item: dict[str, Any], where: Where) -> None:
    for key in item:
        if key not in _KEYS:
            raise where.unknown("key of a target", key, _KEYS)
    for key in set(_KEYS) - {"constants"}:
        if key in item and not (isinstance(item[key], str) and item[key].strip()):
            raise where.at(key).error(f"expected a text, but got {quoted(item[key])}")
    if not isinstance(item.get("constants", {}), dict):
        raise where.at("constants").error(f"expected a table of numbers, but got {quoted(item['constants'])}")
    if "name" in item and item["name"] not in TARGETS:
        raise where.unknown("target", item["name"], TARGETS)
    heads = [key for key in ("name", "formula", "file") if key in item]
    series = heads == ["name", "file"] and item["name"] == CORRELATED
    if len(heads) != 1 and not series:
        raise where.error(
            f"a target needs one of name, formula and file (or the name {CORRELATED!r} and a file), "
            f"but got {quoted(item)}"
        )
    if "column" in item and "file" not in item:
        raise where.error(f"`column` says which column of a file, but got no file in {quoted(item)}")
    if "constants" in item and ("file" in item or item.get("name") == CORRELATED):
        raise where.error(f"samples have no constants, but got {quoted(item)}")


def _label(item: dict[str, Any]) -> str:
    """Return what it is called where it has no label: its name or formula with the constants given, or its file."""
    if "file" in item:
        column = f":{item['column']}" if "column" in item else ""
        return f"{'autocorrelation of ' if 'name' in item else ''}{Path(item['file']).name}{column}"
    given = ", ".join(f"{name}={quoted(value)}" for name, value in sorted(item.get("constants", {}).items()))
    return (item.get("name") or item["formula"]) + (f" ({given})" if given else "")
