"""`stablessm verify`: what is proved, refuted or undecided about a map."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stablessm.parameterizations import Parameterization
    from stablessm.sweeps.errors import Where
    from stablessm.theory import Certificate


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME ...]", help="Built-in maps; all by default.")
    ] = None,
    formula: Annotated[
        list[str] | None, typer.Option("--formula", help="The decay s(w) of a map of your own; may be repeated.")
    ] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option(
            "--constant", metavar="NAME=VALUE", help="A constant's value; without one it is any positive number."
        ),
    ] = None,
    link: Annotated[
        str | None, typer.Option(help="continuous, one-minus, exponential, or all the legal ones (all).")
    ] = None,
    maps_file: Annotated[
        list[Path] | None,
        typer.Option("--maps", metavar="FILE.toml", help="Maps of a file: {name | formula, constants, link, label}."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a page.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown: a table, then the grounds.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX for an appendix (booktabs).")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if a statement is refuted.")] = False,
) -> None:
    """Prove or refute what the theory says about maps: stability, gradient scale, the criteria, and their conditions.

    A file of --maps holds `maps = [...]`, or is an experiment's declaration: then the maps of its axis
    `parameterization` are meant, under each link and at each constant of its axes `link` and `constant_...`.
    What was proved once is kept in the cache folder (XDG_CACHE_HOME or ~/.cache) and read the next time.

    Examples:

        stablessm verify best --link one-minus --constant b=0.5

        stablessm verify --formula "log(1+w^2)"

        stablessm verify exp softplus --json

        stablessm verify best --link all --latex

        stablessm verify --maps my_maps.toml --markdown
    """
    forms = {"--json": as_json, "--markdown": as_markdown, "--latex": as_latex}
    asked = [option for option, wanted in forms.items() if wanted]
    if len(asked) > 1:
        raise typer.BadParameter(f"choose one of --json, --markdown and --latex, but got {' and '.join(asked)}.")
    constants = _constants(constant or [])
    listed = [one for path in maps_file or () for one in _listed(path, link, constants)]
    maps = _chosen(names or [], formula or [], listed, constants, link)

    from stablessm.theory import certified as certify
    from stablessm.theory.documents import latex, markdown

    certificates = []
    if asked:
        certificates = [certify(one) for one in maps]
        form = markdown if as_markdown else latex if as_latex else _json
        typer.echo(form(certificates).rstrip("\n"))
    else:
        from rich.console import Console

        console = Console()
        for one in maps:
            certificates.append(certify(one))
            console.print(certificates[-1].page())
    if strict and any(s.verdict == "refuted" for certificate in certificates for s in certificate.statements):
        raise typer.Exit(1)


def _json(certificates: list[Certificate]) -> str:
    from stablessm.theory import document

    return json.dumps(document(certificates), indent=2)


def _listed(path: Path, link: str | None, constants: Mapping[str, float]) -> list[Parameterization]:
    """The maps of a file, under each link and at each value of a constant that its declaration sweeps."""
    from stablessm.sweeps.declarations import read_document
    from stablessm.sweeps.errors import Where
    from stablessm.sweeps.maps import read_maps

    document, where = read_document(path, kind="--maps file"), Where(path.name)
    axes = document.get("axes")
    if "maps" in document:
        raw, axes, where = document["maps"], {}, where.at("maps")
    elif isinstance(axes, dict) and "parameterization" in axes:
        raw, where = axes["parameterization"], where.at("axes", "parameterization")
    else:
        raise where.error("verify --maps takes a file with maps = [...], or an experiment with axes.parameterization")
    links = _axis(axes, "link", Where(path.name))
    if link is not None and links:
        raise where.error("'link' is an axis here, but --link is given too; give one of the two")
    found = read_maps(raw, where, links=links)
    for one, table in found:
        if link is not None and "link" in table:
            raise where.error(f"the map {one.name!r} sets a link of its own, but --link is given; give one of the two")
    maps = [one for one, _ in found]
    for axis in (name for name in axes if name.startswith("constant_")):
        values, constant = _axis(axes, axis, Where(path.name)), axis.removeprefix("constant_")
        if constant in constants:
            raise where.error(f"{axis!r} is an axis here, but --constant {constant} is given too; give one of the two")
        swept = [[one.replace(constants={constant: v}) for v in values if constant in one.constant_names] or [one]
                 for one in maps]  # fmt: skip
        maps = [one for some in swept for one in some]
    return maps


def _axis(axes: dict[str, Any], name: str, where: Where) -> tuple[Any, ...]:
    """The values of an axis of a declaration; none where it is not there."""
    from stablessm.sweeps.axes import AXES
    from stablessm.sweeps.values import axis_values

    place = where.at("axes", name)
    if name not in axes:
        return ()
    if name not in AXES:
        raise place.unknown("axis", name, AXES)
    return axis_values(AXES[name], axes[name], place)


def _chosen(
    names: list[str],
    formulas: list[str],
    listed: list[Parameterization],
    constants: dict[str, float],
    link: str | None,
) -> list[Parameterization]:
    """The maps asked for, each once, under the links asked for, with the constants that each of them has."""
    from stablessm.parameterizations import PARAMETERIZATIONS, Parameterization, ParameterizationError
    from stablessm.parameterizations.links import LINKS

    names = [part.strip() for name in names for part in name.split(",")]
    chosen = [_named(name) for name in names] + [
        Parameterization.from_formula(text, link="continuous" if link in (None, "all") else link) for text in formulas
    ]
    chosen += listed
    everything = not chosen
    if everything:
        chosen = list(PARAMETERIZATIONS.values())
    known = {name for one in chosen for name in one.constant_names}
    for name in constants:
        if name not in known:
            have = ", ".join(sorted(known)) or "none"
            raise ParameterizationError(f"--constant: there is no constant {name!r} here; the constants are: {have}.")
    if link is not None and link not in (*LINKS, "all"):
        from difflib import get_close_matches

        near = get_close_matches(link, (*LINKS, "all"), 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise ParameterizationError(f"--link must be one of {', '.join(LINKS)} or all, but got {link!r}{hint}.")
    maps: dict[object, Parameterization] = {}
    for one in chosen:
        own = {name: value for name, value in constants.items() if name in one.constant_names}
        links = [one.link] if link is None else one.links if link == "all" else [link]
        if everything and link in LINKS and link not in one.links:
            continue
        for each in links:
            filled = one.replace(link=each, constants=own)
            own_name = filled.name if filled.name in PARAMETERIZATIONS or one in listed else ""
            maps.setdefault((own_name, filled.expression, each, filled.values), filled)
    return list(maps.values())


def _named(name: str) -> Parameterization:
    from difflib import get_close_matches

    from stablessm.parameterizations import PARAMETERIZATIONS, ParameterizationError

    if name in PARAMETERIZATIONS:
        return PARAMETERIZATIONS[name]
    near = get_close_matches(name, PARAMETERIZATIONS, 1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise ParameterizationError(
        f"there is no parameterization {name!r}; choose from {', '.join(PARAMETERIZATIONS)}, or use --formula{hint}."
    )


def _constants(entries: list[str]) -> dict[str, float]:
    """Read NAME=VALUE entries; a comma list in one entry works too."""
    from stablessm.parameterizations.numbers import quoted

    values = {}
    for entry in ",".join(entries).split(",") if entries else ():
        name, equals, text = entry.partition("=")
        try:
            number = float(text)
        except ValueError:
            number = None
        if number is not None and not math.isfinite(number):
            raise typer.BadParameter(f"--constant takes a positive finite number, but got {quoted(entry)}.")
        if not equals or not name.strip().isidentifier() or number is None:
            raise typer.BadParameter(f"--constant takes NAME=VALUE such as b=0.5, but got {quoted(entry)}.")
        if name.strip() in values:
            raise typer.BadParameter(f"--constant {name.strip()} is given twice; give it once.")
        values[name.strip()] = number
    return values
