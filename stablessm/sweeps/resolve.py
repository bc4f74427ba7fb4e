"""The parts of a declaration checked against the measurement, and pydantic's errors as sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_origin

from pydantic import BaseModel, ValidationError

from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.axes import AXES, NUMBERS, UNIVERSAL
from stablessm.sweeps.errors import SpecError, Where
from stablessm.sweeps.maps import resolve_maps
from stablessm.sweeps.precision import narrowest, refuse_lost, refuse_lost_axis, refuse_lost_constants, rounded
from stablessm.sweeps.values import axis_values

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement

DEFAULT_CHUNK = 64
AUTO = "auto"
MOST_CELLS = 10**7

Raw = Mapping[str, tuple[Any, Where]]


def resolve_axes(raw: Raw, where: Where, measurement: Measurement) -> dict[str, tuple[Any, ...]]:
    """Return the values of every axis in the order of the vocabulary, defaults of the measurement included.

    Args:
        raw: axis -> (raw value, its place).
        where: the place of the declaration.
        measurement: says which axes there are and their defaults.

    Raises:
        SpecError: an axis unknown here, one that needs values and has none, illegal values, or too many cells.
    """
    known = {**UNIVERSAL, **measurement.axes}
    if "parameterization" in known:
        known["link"] = ()  # an axis only where a declaration makes it one; a map brings a link of its own
    for name, (_, place) in raw.items():
        if name not in known or name not in AXES:
            raise place.unknown("axis", name, known)
    values: dict[str, tuple[Any, ...]] = {}
    for name, axis in AXES.items():
        if name not in known or axis.kind == "map":
            continue
        default = known[name]
        if name in raw:
            values[name] = axis_values(axis, *raw[name])
        elif default is None:
            raise where.at("axes").error(
                f"the measurement '{measurement.name}' needs values for the axis '{name}' ({axis.allowed})"
            )
        elif default:
            values[name] = axis_values(axis, list(default), where.at("axes", name))
        if name in values and axis.kind == "float":  # the precision comes before the numbers in the vocabulary
            place = raw[name][1] if name in raw else where.at("axes", name)
            refuse_lost_axis(axis.long_name, values[name], narrowest(values), place)
    if "parameterization" in known:
        entry = raw.get("parameterization") or (known["parameterization"], where.at("axes", "parameterization"))
        if entry[0] is None:
            raise entry[1].error(f"the measurement '{measurement.name}' needs a list of maps here")
        swept = {name.removeprefix("constant_"): values[name] for name in values if name.startswith("constant_")}
        values["parameterization"] = resolve_maps(*entry, links=values.get("link", ()), swept=swept)
        refuse_lost_constants(values["parameterization"], narrowest(values), entry[1])
    cells = math.prod(len(value) for value in values.values())
    if cells > MOST_CELLS:
        raise where.at("axes").error(f"a sweep holds at most {MOST_CELLS} cells, but these axes make {cells}")
    return {name: values[name] for name in AXES if name in values}


def take_inner_axes(raw: dict[str, tuple[Any, Where]], measurement: Measurement) -> dict[str, tuple[Any, Where]]:
    """Take out of a declaration's axes those that the measurement goes through inside of a cell, as its settings.

    Training is then paid once for all values of such an axis; its dimension comes after those of the cells.

    Args:
        raw: axis -> (raw value, its place); loses what is returned.
        measurement: its settings name the axes it takes.

    Returns:
        Setting -> (list of checked values, or the one value where the measurement takes one, and its place).

    Raises:
        SpecError: a value the axis does not take, or several where the measurement takes one.
    """
    inner = [name for name in raw if name in measurement.settings.model_fields and name not in measurement.axes]
    found = {name: (list(axis_values(AXES[name], *raw[name])), raw.pop(name)[1]) for name in inner if name in AXES}
    for name, (values, place) in found.items():
        if not _takes_list(measurement.settings.model_fields[name].annotation):
            if len(values) > 1:
                raise place.error(f"{measurement.name} takes one value, but got {len(values)}")
            found[name] = values[0], place
    return found


def resolve_settings(raw: Raw, where: Where, measurement: Measurement, *, precision: str = "float32") -> dict[str, Any]:
    """Return every setting of the measurement, defaults included, as JSON holds them.

    Args:
        raw: setting -> (raw value, its place).
        where: the place of the declaration.
        measurement: holds the model of its settings.
        precision: the narrowest one the sweep computes in.

    Raises:
        SpecError: an unknown setting, or a value of the wrong kind, out of its range or lost at that precision.
    """
    fields = measurement.settings.model_fields
    given = {}
    for name, (value, place) in raw.items():
        if name not in fields:
            if place.source == "--set":
                raise place.unknown("axis or setting", name, [*measurement.axes, *UNIVERSAL, *fields])
            raise place.unknown("setting", name, fields)
        if name in NUMBERS and not isinstance(value, list):
            value = NUMBERS[name].check(value, place)
        elif place.source == "--set" and not isinstance(value, list) and _takes_list(fields[name].annotation):
            value = [value]
        given[name] = value
    try:
        settings = measurement.settings(**given)
    except ValidationError as error:
        place = where.at("settings")
        first = error.errors()[0]
        if first["loc"] and first["loc"][0] in raw:
            place = raw[first["loc"][0]][1]
            raise place.error(_clause(first, measurement.settings)) from None
        raise sentence(error, place, measurement.settings) from None
    for name, value in given.items():
        kept = getattr(settings, name)
        if isinstance(value, bool | str) and isinstance(kept, int | float) and type(kept) is not type(value):
            raise raw[name][1].error(f"expected a number, but got {quoted(value)}")
    dumped = settings.model_dump(mode="json")
    _refuse_lost_settings(dumped, raw, where, measurement, precision)
    return dumped


def _refuse_lost_settings(
    settings: Mapping[str, Any], raw: Raw, where: Where, measurement: Measurement, precision: str
) -> None:
    """Refuse numbers that the precision does not hold, or that break a rule between settings once they are rounded."""
    held = dict(settings)
    for name, value in settings.items():
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(one, float) for one in numbers):
            for one in numbers:
                refuse_lost(name, one, precision, raw[name][1] if name in raw else where.at("settings", name))
            kept = [rounded(one, precision) for one in numbers]
            held[name] = kept if isinstance(value, list) else kept[0]
    try:
        measurement.settings(**held)
    except ValidationError as error:
        between = [one for one in error.errors() if not one["loc"]]  # a bound of one setting was checked unrounded
        if between:
            clause = _clause(between[0], measurement.settings)
            raise where.at("settings").error(f"in {precision}, the precision of this sweep, {clause}") from None


def resolve_chunk(raw: tuple[Any, Where] | None, axes: Mapping[str, tuple[Any, ...]]) -> tuple[int, str]:
    """Return the cells of a work item, and who decided them (`Spec.chunk_from`).

    They are as given; else all traced cells of a static combination, 64 at most, to be fitted to the device where
    "auto" is given.

    Raises:
        SpecError: no integer from 1 to 1000000, and not "auto".
    """
    if raw is None or raw[0] == AUTO:
        return default_chunk(axes), AUTO if raw else "default"
    value, place = raw
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10**6:
        raise place.error(f"the chunk must be an integer from 1 to 1000000, or {AUTO}, but got {quoted(value)}")
    return value, "user" if place.source.startswith("--") else "declaration"


def default_chunk(axes: Mapping[str, tuple[Any, ...]]) -> int:
    """Return the cells of a work item where nothing is said of it."""
    return min(DEFAULT_CHUNK, math.prod(len(values) for name, values in axes.items() if not AXES[name].static))


def sentence(
    error: ValidationError, where: Where, model: type[BaseModel], inner: Mapping[str, type[BaseModel]] | None = None
) -> SpecError:
    """Turn pydantic's error into one sentence about the first thing that is wrong.

    Args:
        error: what pydantic raised.
        where: the place of the table that was validated.
        model: its model.
        inner: models of the tables inside it, by key.
    """
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    for part in path[:-1]:
        model = (inner or {}).get(part, model)
    if first["type"] == "missing":
        return where.at(*path[:-1]).error(f"the key '{path[-1]}' is missing")
    if first["type"] == "extra_forbidden":
        return where.at(*path[:-1]).unknown("key", path[-1], model.model_fields)
    return where.at(*path).error(_clause(first, model))


def _clause(first: Mapping[str, Any], model: type[BaseModel]) -> str:
    if first["type"] == "extra_forbidden":
        return f"unknown key {first['loc'][-1]!r}"
    message = str(first["msg"]).replace("Input should be", "it must be").replace("Value error, ", "").rstrip(".")
    got = first["input"]
    return f"{message}, but got {quoted(got)}" if not isinstance(got, BaseModel | dict) or first["loc"] else message


def _takes_list(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple, set, frozenset)
