"""A designed map as a declaration: text that `stablessm run` takes, and that one of your own can take over."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stablessm.design.solution import Design

MARK = "# A map made by stablessm design"
"""First words of every file written here; a file that begins otherwise is never replaced."""


def inline_table(design: Design) -> str:
    """Return the map as an inline table of TOML, for `--set parameterization=` and for an axis of a declaration.

    Its link is left to the axis `link`, so that built-in maps can stand beside it.

    Example:
        >>> from stablessm.design import from_gradient_scale
        >>> inline_table(from_gradient_scale("sinh(w)", constants={"b": 0.5}, name="mine"))
        '{formula = "1/(b + cosh(w) - 1)", constants = {b = 0.5}, label = "mine"}'
    """
    return _toml(design.table())


def declaration(design: Design, name: str) -> str:
    """Return a declaration of an experiment with the map as its one value of the axis `parameterization`.

    Args:
        design: the map.
        name: name of the experiment.
    """
    link = design.map.link
    said = [design.question, design.answer, design.checked, *design.notes]
    return "\n".join([
        f"{MARK}: take its table over into an axis of your own, or run this file as it is.",
        *(f"# {' '.join(line.split())}" for line in said),
        f"name = {json.dumps(name)}",
        f"title = {json.dumps(f'The map {design.map.name}')}",
        'measurement = "gradient_scale"',
        'figures = ["gradient_scale"]',
        "",
        "[axes]",
        "parameterization = [",
        f"    {_toml(design.table() | ({} if link == 'continuous' else {'link': link}))},",
        "]",
        "",
    ])  # fmt: skip


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
