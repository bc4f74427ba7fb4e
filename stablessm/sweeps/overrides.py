"""`--set key=v1,v2`: from the text of the command line to the same raw values a TOML file gives.

Lists are split at commas outside every bracket and quote, so a formula such as `min(w, 1)` stays whole.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable
from typing import Any

from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.axes import AXES, Axis
from stablessm.sweeps.errors import Where
from stablessm.sweeps.targets import is_path

_GRID = re.compile(r"(log|linear|range)\s*\((.*)\)", re.DOTALL)
_ARGUMENTS = re.compile(r"(?P<head>.+?)\s*\((?P<arguments>\s*\w+\s*=[^()]*)\)", re.DOTALL)


def split_commas(text: str) -> list[str]:
    """Split at the commas that lie outside every bracket and quote, and strip blanks.

    Args:
        text: "direct, min(w, 1)".

    Returns:
        The parts, ["direct", "min(w, 1)"]; none for blank text.
    """
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in [*parts, text[start:]]] if text.strip() else []


def parse_overrides(texts: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the raw axes and the raw settings of a list of `key=value` texts.

    A key that names an axis gives an axis, any other a setting (`settings.KEY` says so explicitly). An axis given more
    than once collects the values.

    Args:
        texts: one "key=value" each.

    Returns:
        Raw axes and raw settings, as the tables [axes] and [settings] of a TOML file would hold them.

    Raises:
        SpecError: what is no text, text without a key or a value, or a setting given twice.
    """
    axes: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for text in texts:
        if not isinstance(text, str):
            raise Where("--set").error(f"expected KEY=VALUE or KEY=VALUE,VALUE, but got {quoted(text)}")
        key, equals, value = (part.strip() for part in text.partition("="))
        if not key or not equals or not value:
            raise Where("--set", key or text).error(f"expected KEY=VALUE or KEY=VALUE,VALUE, but got {quoted(text)}")
        where = Where("--set", key)
        name = key.removeprefix("axes.")
        if name in AXES:
            raw = parse_axis(AXES[name], value, where)
            if name in axes and not (isinstance(raw, list) and isinstance(axes[name], list)):
                raise where.error("a grid cannot be joined with other values; give the axis once")
            axes[name] = axes[name] + raw if name in axes else raw
        else:
            name = key.removeprefix("settings.")
            if name in settings:
                raise where.error("this setting is given twice; give it once")
            settings[name] = _setting(value)
    return axes, settings


def parse_axis(axis: Axis, text: str, where: Where) -> Any:
    """Return the raw values of one axis: a list, or a table for `log(lo, hi, n)`, `linear(...)` and `range(n)`.

    Args:
        axis: which axis.
        text: what stands right of the equals sign.
        where: its place, for the error.

    Returns:
        A list or a one-key table. What cannot be read as a number stays text, for the axis itself to refuse.

    Raises:
        SpecError: a constant of a map is given twice.
    """
    grid = _GRID.fullmatch(text.strip()) if axis.kind in ("integer", "float") else None
    if grid is not None:
        numbers = [_number(part) for part in split_commas(grid[2])]
        return {grid[1]: numbers[0] if grid[1] == "range" and len(numbers) == 1 else numbers}
    parts = split_commas(text.strip()[1:-1] if _bracketed(text) else text)
    if axis.kind == "map":
        return [_map(part, where) for part in parts]
    if axis.kind == "target":
        return [_target(part, where) for part in parts]
    if axis.kind == "name":
        return [part.strip("\"'") for part in parts]
    return [_number(part) for part in parts]


def _bracketed(text: str) -> bool:
    return text.strip().startswith("[") and text.strip().endswith("]")


def _map(text: str, where: Where) -> Any:
    """A name, a formula, an inline table, or either of the first two with `(constant=value, link=..., label=...)`."""
    if text.startswith("{"):
        return _toml(text)
    text = text.strip("\"'")
    match = _ARGUMENTS.fullmatch(text)
    head, arguments = (match["head"], match["arguments"]) if match else (text, "")
    table: dict[str, Any] = {"name" if re.fullmatch(r"[A-Za-z_]\w*", head) and head != "w" else "formula": head}
    if not arguments:
        return head if "name" in table else table
    return _with_arguments(table, arguments, ("link", "label"), where)


def _target(text: str, where: Where) -> Any:
    """A name, a path, a formula or an inline table; a name, path or formula with `(key=value, ...)`."""
    if text.startswith("{"):
        return _toml(text)
    text = text.strip("\"'")
    match = _ARGUMENTS.fullmatch(text)
    head, arguments = (match["head"], match["arguments"]) if match else (text, "")
    key = "file" if is_path(head) else "name" if re.fullmatch(r"[A-Za-z_]\w*", head) and head != "t" else "formula"
    if not arguments:
        return {"formula": head} if key == "formula" else head
    return _with_arguments({key: head}, arguments, ("file", "column", "label"), where)


def _with_arguments(table: dict[str, Any], text: str, keys: tuple[str, ...], where: Where) -> dict[str, Any]:
    """Return the table with what `key=value, ...` adds: texts under `keys`, every other one a constant."""
    constants: dict[str, Any] = {}
    for argument in split_commas(text):
        key, _, value = (part.strip() for part in argument.partition("="))
        inside, given = (table, value.strip("\"'")) if key in keys else (constants, _number(value))
        if key in inside:
            raise where.error(f"{key!r} is given twice in {quoted(text)}; give it once")
        inside[key] = given
    return {**table, "constants": constants} if constants else table


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if kind is int or math.isfinite(number) or not any(map(str.isdigit, text)):
            return number  # 1e400 stays text, so that an error shows what was given
    return text


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or a number or a nesting beyond what Python reads
        return text


def _setting(text: str) -> Any:
    parts = split_commas(text)
    values = [_toml(part) if _number(part) == part else _number(part) for part in parts]
    return values[0] if len(values) == 1 else values
