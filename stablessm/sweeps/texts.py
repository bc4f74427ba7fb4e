"""Texts of a declaration: what no file name, attribute or terminal can hold is refused before anything runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.errors import Where

_LAYOUT = "\n\t\r"


def illegible(text: str) -> str:
    """Return what is wrong with a text, "control characters" or "characters that are no Unicode"; empty if nothing is.

    Example:
        >>> illegible("a\\x00b"), illegible("two\\nlines")
        ('control characters', '')
    """
    kinds = {unicodedata.category(one) for one in text if one not in _LAYOUT}
    return "control characters" if "Cc" in kinds else "characters that are no Unicode" if "Cs" in kinds else ""


def refuse_illegible(document: Any, where: Where) -> None:
    """Raise a `SpecError` where a key or a text of a document holds control characters, or a key is no text.

    Args:
        document: tables, lists, texts and numbers, nested to any depth.
        where: its place.
    """
    left: list[tuple[Any, tuple[str, ...]]] = [(document, ())]
    while left:
        value, path = left.pop()
        place = where.at(*path)
        if isinstance(value, str) and illegible(value):
            raise place.error(f"a text holds no {illegible(value)}, but got {quoted(value)}")
        if isinstance(value, Mapping):
            for key in value:
                if not isinstance(key, str) or illegible(key):
                    raise place.error(f"a key must be a plain text, but got {quoted(key)}")
            left += [(inner, (*path, key)) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            left += [(inner, path) for inner in value]
