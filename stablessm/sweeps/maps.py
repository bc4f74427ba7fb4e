"""Maps on an axis: from names, formulas and tables of a declaration to labelled `Parameterization` records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization, ParameterizationError
from stablessm.parameterizations.grammar import parse
from stablessm.parameterizations.numbers import quoted
from stablessm.sweeps.entries import Entry
from stablessm.sweeps.errors import Where

_KEYS = ("name", "formula", "constants", "link", "label")
_PROOF_SECONDS = 2.0


class MapEntry(Entry):
    """One map of an axis, resolved.

    Attributes:
        label: its value on the `parameterization` coordinate.
        name: key in the registry; empty for a formula.
        formula: text of the decay s(w), under its link.
        constants: every constant that has a value.
        link: its link, or its registered default where a `link` axis decides.
        own_link: True where the declaration gave the link.
    """

    name: str = ""
    formula: str
    constants: dict[str, float]
    link: str
    own_link: bool = False

    def record(self, link: str | None = None) -> Parameterization:
        """Return the parameterization, under `link` where it is given."""
        if self.name:
            record = PARAMETERIZATIONS[self.name].replace(link=link or self.link)
            return record.replace(constants=self.constants)
        return Parameterization.from_formula(
            self.formula, constants=self.constants, link=link or self.link, name=self.label
        )

    def table(self) -> dict[str, Any]:
        """Return the table of a declaration that gives this entry back."""
        head = {"name": self.name} if self.name else {"formula": self.formula}
        link = {"link": self.link} if self.own_link else {}
        return {**head, "constants": self.constants, **link, "label": self.label}


def resolve_maps(
    raw: Any, where: Where, *, links: Sequence[str] = (), swept: Mapping[str, Sequence[float]] | None = None
) -> tuple[MapEntry, ...]:
    """Return the maps of an axis, each checked under every link it will meet.

    Args:
        raw: a list of names and tables `{name | formula, constants, link, label}`.
        where: its place, for the error.
        links: values of the `link` axis, where there is one.
        swept: values of the constants that are axes of their own, by the constant's name.

    Returns:
        One entry a map, with unique labels.

    Raises:
        SpecError: an unknown map, key, constant or link, an illegal pair of map and link, a missing constant, a formula
            that does not parse or is not positive and real everywhere, or a map or label given twice.
    """
    swept = swept or {}
    items = list(raw) if isinstance(raw, list | tuple) else [raw]
    if not items:
        raise where.error("an axis needs at least one value: names of maps or tables {name | formula, ...}")
    tables = [_table(item, where) for item in items]
    records = [_record(table, where, links) for table in tables]
    for record in records:
        _refuse_missing(record, where, swept)
    for constant in swept:
        if all(constant not in record.constant_names for record in records):
            raise where.error(f"no map here has the constant {constant!r}, but 'constant_{constant}' is an axis")
    seen = set()
    several = sum("formula" in table for table in tables) > 1
    for table, record in zip(tables, records, strict=True):
        # Two texts can be one formula; only where there are two is SymPy worth its import.
        formula = parse(record.formula) if several and "formula" in table else record.formula
        content = table.get("name"), formula, record.link, record.values
        if content in seen:
            raise where.error(
                f"each value may occur once on an axis, but got the map {table.get('name', record.formula)!r} twice"
            )
        seen.add(content)
    for table, record in zip(tables, records, strict=True):
        if "formula" in table or table["name"] not in PARAMETERIZATIONS.built_in:
            _refuse_unusable(record, where, swept)
    return tuple(
        MapEntry(
            label=label,
            name=table.get("name", ""),
            formula=record.formula,
            constants={**record.constants},
            link=record.link,
            own_link="link" in table,
        )
        for label, table, record in zip(_labels(tables, records, where), tables, records, strict=True)
    )


def read_maps(raw: Any, where: Where, *, links: Sequence[str] = ()) -> list[tuple[Parameterization, dict[str, Any]]]:
    """Return the maps of a list as they are, for proofs: constants may be free, and a map need not be stable.

    Args:
        raw: a list of names and tables `{name | formula, constants, link, label}`.
        where: its place, for the error.
        links: values of the `link` axis, where there is one.

    Returns:
        Each map with its table, under each of the links.

    Raises:
        SpecError: an unknown map, key, constant or link, an illegal pair of map and link, or a formula that does not
            parse.
    """
    items = list(raw) if isinstance(raw, list | tuple) else [raw]
    if not items:
        raise where.error("give at least one map: a name or a table {name | formula, ...}")
    tables = [_table(item, where) for item in items]
    records = [_record(table, where, links) for table in tables]
    return [
        (replace(under, name=table["label"]) if "label" in table else under, table)
        for record, table in zip(records, tables, strict=True)
        for under in ([record.replace(link=link) for link in links] or [record])
    ]


def _table(item: Any, where: Where) -> dict[str, Any]:
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, dict):
        raise where.error(
            f"a map must be a name or a table {{name | formula, constants, link, label}}, but got {quoted(item)}"
        )
    for key in item:
        if key not in _KEYS:
            raise where.unknown("key of a map", key, _KEYS)
    if ("name" in item) == ("formula" in item):
        raise where.error(f"a map needs either a name or a formula, but got {quoted(item)}")
    for key in ("name", "formula", "link", "label"):
        if key in item and not (isinstance(item[key], str) and item[key].strip()):
            raise where.at(key).error(f"expected a text, but got {quoted(item[key])}")
    constants = item.get("constants", {})
    if not isinstance(constants, dict):
        raise where.at("constants").error(f"expected a table of numbers, but got {quoted(constants)}")
    try:
        if "name" in item and item["name"] not in PARAMETERIZATIONS:
            raise where.unknown("map", item["name"], PARAMETERIZATIONS)
    except ParameterizationError as error:  # of a package that brings maps
        raise where.error(str(error).rstrip(".")) from None
    return item


def _record(table: dict[str, Any], where: Where, links: Sequence[str]) -> Parameterization:
    """Make the record, and try it under every link of the `link` axis."""
    if links and "link" in table:
        name = table.get("name", table.get("formula"))
        raise where.error(f"the map {name!r} sets a link of its own, but 'link' is an axis; give one of the two")
    constants = table.get("constants", {})
    try:
        if "name" in table:
            named = PARAMETERIZATIONS[table["name"]]
            legal = links or (table.get("link", named.link),)
            records = [named.replace(link=link).replace(constants=constants) for link in legal]
            return named.replace(constants=constants) if links else records[0]
        link = table.get("link", "continuous")
        record = Parameterization.from_formula(
            table["formula"], constants=constants, link=link, name=table.get("label")
        )
        for other in links:
            record.replace(link=other)
        return record
    except ParameterizationError as error:
        raise where.error(str(error).rstrip(".")) from None


def _refuse_missing(record: Parameterization, where: Where, swept: Mapping[str, Any]) -> None:
    missing = [name for name in record.missing_constants if name not in swept]
    if missing:
        given = ", ".join(f"{name} = ..." for name in missing)
        raise where.error(
            f"the formula {record.formula!r} needs a value for {', '.join(missing)}; "
            f'give {{formula = "{record.formula}", constants = {{{given}}}}}'
        )


def _refuse_unusable(record: Parameterization, where: Where, swept: Mapping[str, Sequence[float]]) -> None:
    """Refuse a user's formula that is not positive, or has no real value, at some weight; an overflow may pass.

    A zero of the scan counts where the formula is exactly 0: e^w underflows, and is positive all the same.
    """
    from stablessm.parameterizations.domain import GRID, exact_constants, precise, runs, scan

    corners = [{name: pick(values) for name, values in swept.items() if name in record.constant_names}
               for pick in ((min, max) if swept else (min,))]  # fmt: skip
    for corner in corners:
        filled = record.replace(constants=corner)
        values = scan(filled)
        below = GRID[values < 0]
        if below.size:
            weight = below[abs(below).argmin()]
            raise where.error(
                f"the decay {record.formula!r} is not positive everywhere: it is {values[weight == GRID].item():.4g} "
                f"at w = {weight:.4g}, and run takes stable maps only (verify says more)"
            )
        exact = filled.expression.subs(exact_constants(filled))
        for first, last in runs(values == 0):
            weight = min(GRID[first:last], key=abs)
            if precise(exact, weight) == 0:
                raise where.error(
                    f"the decay {record.formula!r} is not positive everywhere: it is 0 at w = {weight:.4g}, and "
                    "run takes stable maps only (verify says more)"
                )
        weight = _undefined_weight(filled)
        if weight is not None:
            raise where.error(
                f"the decay {record.formula!r} is not real everywhere: as it is written it has no value at w = "
                f"{weight:.4g}, and run takes real maps only (verify says more)"
            )


def _undefined_weight(record: Parameterization) -> float | None:
    """Return a weight at which the formula as it is written has no real value: the one `verify` proves, or a scanned.

    The proof finds zeros of a denominator wherever they lie; where it gives up, the scan knows its own weights.
    """
    from stablessm.calculus.outcomes import Undecided
    from stablessm.parameterizations.domain import GRID, undefined
    from stablessm.theory.budget import OutOfTime, time_limit
    from stablessm.theory.problem import problem_of
    from stablessm.theory.stability import gaps_of

    scanned = GRID[undefined(record)]
    if scanned.size:
        return float(min(scanned, key=lambda weight: (weight != 0, abs(abs(weight) - 1))))
    if not record.restrictions:
        return None
    problem = problem_of(record.expression, record.link, record.constants, record.restrictions).specialised()
    try:
        with time_limit(_PROOF_SECONDS):
            return next(map(float, gaps_of(problem)), None)
    except (Undecided, OutOfTime):
        return None


def _labels(tables: Sequence[dict[str, Any]], records: Sequence[Parameterization], where: Where) -> list[str]:
    """Name; with the given constants where it occurs twice; with the link where that is not enough."""
    labels = [table.get("label") or table.get("name") or table["formula"] for table in tables]

    def extend(addition: Callable[[dict[str, Any], Parameterization], str]) -> None:
        counts = Counter(labels)
        for position, (table, record) in enumerate(zip(tables, records, strict=True)):
            if counts[labels[position]] > 1 and "label" not in table:
                labels[position] = f"{labels[position]}{addition(table, record)}"

    def constants(table: dict[str, Any], record: Parameterization) -> str:
        given = sorted(table.get("constants", {}).items())
        return f" ({', '.join(f'{name}={value:g}' for name, value in given)})" if given else ""

    extend(constants)
    extend(lambda table, record: f" ({record.link})")
    for label, count in Counter(labels).items():
        if count > 1:
            raise where.error(f"each label may occur once on an axis, but got {label!r} twice; give each map a label")
    return labels
