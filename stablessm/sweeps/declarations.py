"""From a TOML declaration, a stored document or a bundled name to a checked `Spec`."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stablessm.parameterizations.numbers import quoted
from stablessm.reading import read_bytes
from stablessm.sweeps import places
from stablessm.sweeps.errors import SpecError, Where, ours, unknown
from stablessm.sweeps.needs import refuse_unmet
from stablessm.sweeps.overrides import parse_overrides
from stablessm.sweeps.precision import narrowest
from stablessm.sweeps.resolve import resolve_axes, resolve_chunk, resolve_settings, sentence, take_inner_axes
from stablessm.sweeps.spec import Spec
from stablessm.sweeps.targets import check_targets
from stablessm.sweeps.texts import illegible, refuse_illegible

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement

SCALES = ("quick", "full")
_LONGEST_NAME = 100


class _Scale(BaseModel):
    """What a scale may override."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    axes: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    chunk: Any = None


class _Scales(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    quick: _Scale = Field(default_factory=_Scale)
    full: _Scale = Field(default_factory=_Scale)


class _Declaration(BaseModel):
    """The outermost level of a declaration."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    measurement: str
    title: str = ""
    description: str = ""
    analyses: list[str] = []
    figures: list[str] = []
    axes: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    scale: _Scales = Field(default_factory=_Scales)
    chunk: Any = None


def load_spec(
    source: Spec | Mapping[str, Any] | str | Path,
    *,
    scale: str = "quick",
    overrides: Iterable[str] = (),
    chunk: int | str | None = None,
    measurements: Mapping[str, Measurement] | None = None,
) -> Spec:
    """Return the checked spec of an experiment; every scale it declares is checked, whichever is asked for.

    Args:
        source: a bundled name, the path of a TOML file, of a dataset or a store (whose declaration is meant), a
            document (as `Spec.document()` gives it), or a `Spec`.
        scale: "quick" or "full"; a `Spec` or a stored document keeps its own.
        overrides: texts "axis=v1,v2" or "setting=value", applied over the declaration and its scale.
        chunk: cells in one work item, over the declaration's; "auto" to have them fitted to the device.
        measurements: the registry of measurements; the package's own by default.

    Raises:
        SpecError: anything in it that cannot be run, in one sentence naming the file and the key.

    Example:
        >>> load_spec({"name": "maps", "measurement": "nonsense"}, measurements={})
        Traceback (most recent call last):
        stablessm.sweeps.errors.SpecError: 'maps', key 'measurement': unknown measurement 'nonsense' (known: none).
    """
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        raise SpecError(f"overrides must be a list of texts KEY=VALUE, but got {quoted(overrides)}.")
    texts = tuple(overrides)
    if not isinstance(source, Spec | Mapping | str | Path):
        raise SpecError(
            "an experiment must be a bundled name, the path of a TOML file, a document or a Spec, "
            f"but got {quoted(source)}."
        )
    if isinstance(source, Spec):
        if not texts and chunk is None:
            return source
        kept = {"user": source.chunk, "auto": "auto"}.get(source.chunk_from)
        source, chunk = source.document(), kept if chunk is None else chunk
    if isinstance(source, Mapping):
        name = source.get("name")
        document, folder = dict(source), ""
        file = name if isinstance(name, str) and not illegible(name) else "declaration"
    else:
        document, file, folder = _read(source)
    if scale not in SCALES:
        raise Where("--scale", "").error(unknown("scale", scale, SCALES))
    if document.get("scale") in SCALES:
        scale = document.pop("scale")
    document.setdefault("name", Path(file).stem)
    where = Where(file, folder=folder)
    refuse_illegible(document, where)
    refuse_illegible(texts, Where("--set"))
    try:
        declaration = _Declaration(**document)
    except ValidationError as error:
        raise sentence(error, where, _Declaration, {"scale": _Scales, "quick": _Scale, "full": _Scale}) from None
    _check_names(declaration, where)
    measurement = _measurement(declaration, where, measurements)
    specs = {one: _resolve(declaration, one, where, measurement, (), None) for one in SCALES}
    if not texts and chunk is None:
        return specs[scale]
    return _resolve(declaration, scale, where, measurement, texts, chunk)


def spec_from_json(text: str, *, measurements: Mapping[str, Measurement] | None = None) -> Spec:
    """Return the spec that `Spec.to_json()` wrote, checked again.

    Raises:
        SpecError: text that is no JSON, or a spec this version cannot run.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        raise SpecError("the stored declaration is not JSON.") from None
    return load_spec(document, measurements=measurements)


def stored_text(path: Path) -> str:
    """Return the declaration that a dataset (.nc) or a store (.zarr) holds, as JSON.

    Raises:
        DatasetError: the file is damaged or foreign.
        StoreError: the folder is.
        SpecError: it is no dataset of a sweep.
    """
    if path.suffix == ".zarr" or os.path.isdir(path):  # Path.is_dir raises where a folder may not be searched
        from stablessm.sweeps.header import read_header

        return json.dumps(read_header(path).spec)
    from stablessm import datasets

    text = datasets.load(path).attrs.get("spec")
    if not isinstance(text, str) or not text:
        raise SpecError(f"'{path}' is no dataset of a sweep: it holds no declaration.")
    return text


def _read(source: str | Path) -> tuple[dict[str, Any], str, str]:
    """Return the document, and the name and the folder of the file it came from."""
    path = Path(source)
    if path.suffix in (".nc", ".zarr"):
        try:
            document = json.loads(stored_text(path))
        except (ValueError, RecursionError) as error:
            if ours(error):
                raise
            raise SpecError(f"the declaration in '{path}' is no JSON.") from None
        if not isinstance(document, dict):
            raise SpecError(f"the declaration in '{path}' is no table.")
        return document, path.name, ""
    if isinstance(source, str) and not source.endswith(".toml") and "/" not in source:
        if source not in places.names("experiments"):
            raise SpecError(
                unknown("experiment", source, places.names("experiments")) + "; or give the path of a TOML file."
            )
        path = places.bundled("experiments") / f"{source}.toml"
    advice = f"; bundled are {', '.join(places.names('experiments'))}"
    return read_document(path, advice=advice), path.name, str(path.parent)


def read_document(path: Path, *, kind: str = "declaration", advice: str = "") -> dict[str, Any]:
    """Return what a TOML file holds.

    Args:
        path: the file.
        kind: what it is, for the error.
        advice: a clause for a file that is not there: what could be given instead.

    Raises:
        SpecError: the file cannot be read, or is not TOML.
    """
    content = read_bytes(path, kind, SpecError, advice=advice)
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise SpecError(f"the {kind} '{path}' cannot be read: it is nested too deeply.") from None
    except ValueError as error:  # of TOML, of UTF-8, or of an integer with too many digits
        reason = str(error).split(";")[0].rstrip(".")
        raise SpecError(f"the {kind} '{path}' is not TOML: {reason}.") from None


def _check_names(declaration: _Declaration, where: Where) -> None:
    """Check the names that become file names, and those of analyses and figures."""
    if not re.fullmatch(rf"[a-z0-9][a-z0-9_-]{{0,{_LONGEST_NAME - 1}}}", declaration.name):
        raise where.at("name").error(
            f"a name is made of a-z, 0-9, _ and -, at most {_LONGEST_NAME} of them, and starts with one of a-z, 0-9, "
            f"but got {quoted(declaration.name)}"
        )
    for key, kind, folder in (("analyses", "analysis", "analysis"), ("figures", "figure", "figures")):
        given = getattr(declaration, key)
        for name in given:
            if given.count(name) > 1:
                raise where.at(key).error(f"each {kind} may occur once, but got {name!r} twice")
            if name not in places.names(folder):
                raise where.at(key).unknown(kind, name, places.names(folder))


def _measurement(
    declaration: _Declaration, where: Where, measurements: Mapping[str, Measurement] | None
) -> Measurement:
    if measurements is None:
        from stablessm.measurements import MEASUREMENTS

        measurements = MEASUREMENTS
    if declaration.measurement not in measurements:
        raise where.at("measurement").unknown("measurement", declaration.measurement, measurements)
    return measurements[declaration.measurement]


def _resolve(
    declaration: _Declaration,
    scale: str,
    where: Where,
    measurement: Measurement,
    texts: tuple[str, ...],
    chunk: int | str | None,
) -> Spec:
    """Lay the scale and the overrides over the base, each value remembering where it came from, and check it all."""
    over: _Scale = getattr(declaration.scale, scale)
    set_axes, set_settings = parse_overrides(texts)
    axes, settings = (
        {
            **{key: (value, where.at(table, key)) for key, value in base.items()},
            **{key: (value, where.at("scale", scale, table, key)) for key, value in upper.items()},
            **{key: (value, Where("--set", key)) for key, value in top.items()},
        }
        for table, base, upper, top in (
            ("axes", declaration.axes, over.axes, set_axes),
            ("settings", declaration.settings, over.settings, set_settings),
        )
    )
    places_of_chunk = {
        "declaration": (declaration.chunk, where.at("chunk")),
        "scale": (over.chunk, where.at("scale", scale, "chunk")),
        "set": settings.pop("chunk", (None, Where("--set", "chunk"))),
        "option": (chunk, Where("--chunk")),
    }
    settings.update(take_inner_axes(axes, measurement))
    resolved = resolve_axes(axes, where, measurement)
    resolved_settings = resolve_settings(settings, where, measurement, precision=narrowest(resolved))
    place = axes["target"][1] if "target" in axes else where.at("axes", "target")
    check_targets(resolved.get("target", ()), resolved_settings, place, precision=narrowest(resolved))
    refuse_unmet(
        declaration.analyses,
        declaration.figures,
        axes=resolved,
        variables=measurement.variables(measurement.settings(**resolved_settings)),
        measurement=measurement.name,
        where=where,
    )
    given = [one for one in places_of_chunk.values() if one[0] is not None]
    size, decided = resolve_chunk(given[-1] if given else None, resolved)
    return Spec(
        name=declaration.name,
        measurement=declaration.measurement,
        title=declaration.title,
        description=declaration.description,
        analyses=tuple(declaration.analyses),
        figures=tuple(declaration.figures),
        scale=scale,
        axes=resolved,
        settings=resolved_settings,
        chunk=size,
        chunk_from=decided,
    )
