"""From the name of a data set, a TOML file or a table, and `--set`, to a checked `Declaration`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stablessm.data.catalogue import DATA_SETS
from stablessm.parameterizations.numbers import quoted
from stablessm.runs.declaration import Declaration
from stablessm.sweeps import places
from stablessm.sweeps.axes import AXES
from stablessm.sweeps.declarations import read_document
from stablessm.sweeps.errors import SpecError, Where, unknown
from stablessm.sweeps.maps import resolve_maps
from stablessm.sweeps.overrides import parse_axis, parse_overrides
from stablessm.sweeps.resolve import sentence
from stablessm.sweeps.texts import refuse_illegible
from stablessm.tasks.architecture import Architecture
from stablessm.training.recipe import Recipe

_TABLES = {"model": Architecture, "recipe": Recipe}
_LONGEST_NAME = 100


def load_declaration(
    source: Declaration | Mapping[str, Any] | str | Path, *, overrides: Iterable[str] = (), **given: Any
) -> Declaration:
    """Return a checked declaration.

    A key of `overrides` is one of the declaration, of its model or of its recipe (`model.width` and `width` are the
    same, `model.options.s4d.rule` and `options.s4d.rule`, too); any other is an option of the data (`options.KEY` says
    so explicitly).

    Args:
        source: a data set, the path of a file of data, a bundled training run or the path of a TOML file, or the table
            that such a file holds.
        overrides: "key=value" each.
        given: keys of the declaration, above all of these; None counts as not given.

    Raises:
        SpecError: an unknown key or a value that is none; the sentence names file or option, key and what is allowed.

    Example:
        >>> run = load_declaration("digits", overrides=["width=16", "pool=2", "parameterization=best(b=0.1)"])
        >>> run.name, run.model.width, run.options, run.parameterization["constants"]["b"]
        ('digits-s4d-best', 16, {'pool': 2}, 0.1)
    """
    if isinstance(source, Declaration):
        source = source.document()
    table, where = _table(source)
    refuse_illegible(table, where)
    told = {name: where for name in table}
    for key, value in _overrides(overrides, where):
        _put(table, told, key, value, Where("--set", ".".join(key)))
    for name, value in given.items():
        if value is not None:
            key = next(((part, name) for part, model in _TABLES.items() if name in model.model_fields), (name,))
            _put(table, told, key, value, Where(f"--{name.replace('_', '-')}"))
    link = table.pop("link", None)
    map_, place = table.get("parameterization", "best"), told.get("parameterization", where.at("parameterization"))
    if isinstance(map_, str) and place.source.startswith("--"):
        map_ = parse_axis(AXES["parameterization"], map_, place)
        if len(map_) != 1:
            raise place.error(f"a run has one map, but got {len(map_)}")
        map_ = map_[0]
    if link is not None:
        map_ = {**({"name": map_} if isinstance(map_, str) else map_), "link": link}
        place = told["link"]
    table["parameterization"] = resolve_maps([map_], place)[0].table()
    table.setdefault("name", _name(table))
    if not re.fullmatch(rf"[a-z0-9][a-z0-9_-]{{0,{_LONGEST_NAME - 1}}}", str(table["name"])):
        at = told.get("name", where)
        raise (at if at.source.startswith("--") else at.at("name")).error(
            f"a name is made of a-z, 0-9, _ and -, at most {_LONGEST_NAME} of them, and starts with one of a-z, 0-9, "
            f"but got {quoted(table['name'])}"
        )
    try:
        return Declaration(**table)
    except ValidationError as error:
        first = error.errors()[0]["loc"]
        at = told.get(".".join(map(str, first[:2])), told.get(str(first[0]), where)) if first else where
        if at.source.startswith("--") and at.source != "--set":  # the option is the key
            raise at.error(str(sentence(error, at, Declaration, _TABLES)).partition(": ")[2].rstrip(".")) from None
        at = Where(at.source) if at.source.startswith("--") else where
        raise sentence(error, at, Declaration, _TABLES) from None


def bundled_runs() -> tuple[str, ...]:
    """Return the names of the bundled training runs, sorted."""
    return tuple(sorted(one.stem for one in (places.bundled("experiments") / "training").glob("*.toml")))


def _table(source: Mapping[str, Any] | str | Path) -> tuple[dict[str, Any], Where]:
    if isinstance(source, Mapping):
        return _copied(source), Where("declaration")
    text = str(source)
    if text in bundled_runs():
        path = places.bundled("experiments") / "training" / f"{text}.toml"
        return read_document(path), Where(path.name)
    if text.lower().endswith(".toml"):
        return read_document(Path(text)), Where(Path(text).name)
    if text not in DATA_SETS and not Path(text).suffix:
        raise SpecError(
            f"TASK: {unknown('data set or training run', text, [*DATA_SETS, *bundled_runs()])}; or give the path of a "
            "TOML, .txt, .csv or .ts file."
        )
    return {"data": text}, Where("TASK")


def _copied(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copied(value) if isinstance(value, Mapping) else value for key, value in table.items()}


def _overrides(texts: Iterable[str], where: Where) -> Iterable[tuple[tuple[str, ...], Any]]:
    """Yield the path of each key and its value."""
    for text in texts:
        name, equals, value = (part.strip() for part in str(text).partition("="))
        if not (name and equals and value):
            raise Where("--set", name or str(text)).error(f"expected KEY=VALUE, but got {quoted(text)}")
        path = tuple(name.split("."))
        if len(path) == 1 and name not in (*Declaration.model_fields, "link"):
            path = next(((part, name) for part, model in _TABLES.items() if name in model.model_fields),
                        ("options", name))  # fmt: skip
        if path == ("parameterization",):
            yield path, value
            continue
        if path[0] == "options" and len(path) > 2:  # of a layer, not of the data
            path = ("model", *path)
        yield path, parse_overrides([f"settings.value={value}"])[1]["value"]


def _put(table: dict[str, Any], told: dict[str, Where], key: tuple[str, ...], value: Any, where: Where) -> None:
    inner = table
    for part in key[:-1]:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise where.error(f"{part!r} is no table")
    inner[key[-1]] = value
    told[".".join(key)] = where


def _name(table: Mapping[str, Any]) -> str:
    """DATA-LAYER-MAP."""
    layer = table.get("model", {}).get("layer", "s4d") if isinstance(table.get("model", {}), dict) else "s4d"
    layers = [layer] if isinstance(layer, str) else list(layer) if isinstance(layer, list | tuple) else []
    parts = [Path(str(table.get("data", "run"))).stem, *map(str, dict.fromkeys(layers)),
             str(table["parameterization"]["label"])]  # fmt: skip
    return re.sub(r"[^a-z0-9_-]+", "-", "-".join(parts).lower()).strip("-_")[:_LONGEST_NAME].rstrip("-_") or "run"
