"""`stablessm design`: from a question to a map ready to sweep."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from stablessm.design import Design
    from stablessm.theory import Certificate


def design(
    gradient_scale: Annotated[
        str | None,
        typer.Option("--gradient-scale", metavar="G(w)", help="|f'|/f^2 (discrete: |f'|/(1 - f)^2) of the weight w."),
    ] = None,
    stable_step: Annotated[
        str | None,
        typer.Option("--stable-step", metavar="STEP(s)", help="Largest stable step, of the decay s = 1/memory length."),
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Compare known maps by every criterion instead.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="DATASET.nc", help="With --table: a dataset of certificates.")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(help="Learn a map: modulus, gradient-scale, gradient-over-weight or stable-step, at their worst."),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(metavar="units|best|FORMULA", help="With --criterion: maps whose constants are learned."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="With --criterion: memory lengths to reach (2,1000).")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="With --criterion: weights that carry them (0,10).")
    ] = None,
    slope: Annotated[
        str | None, typer.Option(metavar="K", help="With --criterion: bound on |d ln|f|/dw|, or none (2).")
    ] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", metavar="NAME=VALUE", help="A constant's value, that of integration too."),
    ] = None,
    link: Annotated[str, typer.Option(help="continuous, one-minus or exponential.")] = "continuous",
    label: Annotated[str | None, typer.Option(help="Name of the map; its formula by default.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.toml", help="Write a declaration with the map here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a page.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="With --table: print Markdown.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="With --table: print LaTeX (booktabs).")] = False,
) -> None:
    """Find the map that has a wanted gradient scale or largest stable step, or learn the best of a family for a
    criterion; prove what holds for it, and write it down. Or compare the known maps (--table).

    Examples:

        stablessm design --gradient-scale "2*a*w" --constant b=0.5

        stablessm design --stable-step "4*s" --json

        stablessm design --gradient-scale "w/sqrt(1+w^2)" --link one-minus --out gentle.toml

        stablessm design --criterion stable-step --memory 2,1000 --weights 0,10 --slope 2

        stablessm design --table --from experiments/results/certificates.nc --markdown
    """
    forms = {"--json": as_json, "--markdown": as_markdown, "--latex": as_latex}
    forms = {option: wanted for option, wanted in forms.items() if wanted}
    asked = {"--gradient-scale": gradient_scale, "--stable-step": stable_step, "--criterion": criterion}
    given = [option for option, value in asked.items() if value is not None]
    ranges = _ranges(family, memory, weights, slope)
    if table:
        others = {"--constant": constant, "--out": out, "--label": label} | {f"--{one}": True for one in ranges}
        others = [*given, *(option for option, value in others.items() if value)]
        if others or len(forms) > 1:
            got = " and ".join(["--table", *others, *forms])
            raise typer.BadParameter(
                f"--table takes --link or --from, and one of --json, --markdown and --latex, but got {got}."
            )
        from stablessm.cli.comparison import print_table

        print_table(link, source, next(iter(forms), ""))
        return
    for option in (*(["--from"] if source else []), *forms):
        if option != "--json":
            raise typer.BadParameter(f"{option} goes with --table.")
    if len(given) != 1:
        got = " and ".join(given) or "none of them"
        raise typer.BadParameter(f"give one of {', '.join(asked)} and --table, but got {got}.")
    if ranges and given != ["--criterion"]:
        raise typer.BadParameter(f"--{next(iter(ranges))} goes with --criterion.")
    if constant and given == ["--criterion"]:
        raise typer.BadParameter("--constant does not go with --criterion, which learns all constants.")
    _check_out(out)
    from stablessm.cli.verify import _constants
    from stablessm.theory import certified

    found = _answer(given[0], asked[given[0]], link, _constants(constant or []), label, ranges)
    certificate = certified(found.map)
    _show(found, certificate, as_json)
    stability = certificate["stability"]
    if stability.verdict == "refuted":
        _fail(
            f"the solution is not stable for every weight ({stability.expression}), and a sweep takes stable maps only"
        )
    _write(found, out)


def _answer(option: str, asked: str, link: str, constants: dict[str, float], label: str | None, ranges: dict) -> Design:
    """The map that answers the question; exit 1 where there is none."""
    from stablessm.design import DesignError, Unsolved, from_gradient_scale, from_stable_step, learn
    from stablessm.parameterizations import ParameterizationError

    try:
        if option == "--criterion":
            return learn(asked, link=link, name=label, **ranges)
        solve = from_gradient_scale if option == "--gradient-scale" else from_stable_step
        return solve(asked, link=link, constants=constants, name=label)
    except (DesignError, ParameterizationError) as error:
        own = str(error).startswith(("memory: ", "weights: ", "slope: "))
        raise typer.BadParameter(f"--{error}" if own else f"{option}: {error}") from None
    except Unsolved as reason:
        _fail(str(reason))


def _ranges(family: str | None, memory: str | None, weights: str | None, slope: str | None) -> dict:
    """What was given of the ranges of `learn`, read."""
    given: dict = {} if family is None else {"family": family}
    for option, text in (("memory", memory), ("weights", weights)):
        if text is not None:
            parts = [_number(part) for part in text.split(",")]
            if len(parts) != 2 or None in parts:
                raise typer.BadParameter(f"--{option} takes LOW,HIGH such as 2,1000, but got {text!r}.")
            given[option] = tuple(parts)
    if slope is not None:
        number = float("inf") if slope == "none" else _number(slope)
        if number is None or not number > 0:
            raise typer.BadParameter(f"--slope takes a positive number or none, but got {slope!r}.")
        given["slope"] = number
    return given


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _check_out(out: Path | None) -> None:
    """Refuse a file that cannot be a declaration, or one that something else is in."""
    if out is None:
        return
    from stablessm.design.declaration import MARK
    from stablessm.sweeps.folders import check_file

    if out.suffix != ".toml" or not out.stem:
        raise typer.BadParameter(f"--out takes the name of a declaration such as mine.toml, but got {str(out)!r}.")
    check_file(out, "--out")
    if out.exists() and not out.read_bytes().startswith(MARK.encode()):
        raise typer.BadParameter(f"--out: {str(out)!r} is there and was not made by design; give another name.")


def _show(found: Design, certificate: Certificate, as_json: bool) -> None:
    from stablessm.design.declaration import inline_table

    if as_json:
        document = {"schema": 1, "design": found.to_json(), "certificate": certificate.entry()}
        typer.echo(json.dumps(document, indent=2))
        return
    from rich.console import Console

    for line in (found.question, found.answer, found.checked, *found.notes):
        typer.echo(line)
    typer.echo()
    Console().print(certificate.page())
    table = inline_table(found)
    overrides = [f"parameterization={table}", f"link={found.map.link}"]
    typer.echo(f"in a declaration:     parameterization = [{table}]")
    typer.echo(f"                      link = [{json.dumps(found.map.link)}]")
    typer.echo("on the command line:  " + " ".join(f"--set {shlex.quote(one)}" for one in overrides))
    given = [f"--formula {shlex.quote(found.map.formula)}"]
    given += [f"--constant {name}={value!r}" for name, value in found.map.constants.items()]
    given += [f"--link {found.map.link}"] if found.map.link != "continuous" else []
    typer.echo(f"for verify:           {' '.join(given)}")


def _write(found: Design, out: Path | None) -> None:
    """Write the declaration, once `run` is known to take it."""
    if out is None:
        return
    import tomllib

    from stablessm.cli.pipeline import writing
    from stablessm.design.declaration import declaration
    from stablessm.plotting.saving import write_text
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.errors import SpecError

    content = declaration(found, out.stem)
    try:
        load_spec(tomllib.loads(content))
    except SpecError as error:
        _fail(f"no sweep takes the solution: {error}")
    with writing():
        write_text(out, content)
    typer.echo(f"saved {out}", err=True)


def _fail(sentence: str) -> NoReturn:
    typer.echo(f"Error: {' '.join(sentence.split()).rstrip('.')}.", err=True)
    raise typer.Exit(1)
