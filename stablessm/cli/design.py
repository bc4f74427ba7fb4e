"""`stablessm design`: from a criterion to a map ready to sweep."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import xarray as xr

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
    """Find the map that has a wanted gradient scale or largest stable step, prove what holds for it, and write it down.

    Examples:

        stablessm design --gradient-scale "2*a*w" --constant b=0.5

        stablessm design --stable-step "4*s" --json

        stablessm design --gradient-scale "w/sqrt(1+w^2)" --link one-minus --out gentle.toml

        stablessm design --table --from experiments/results/certificates.nc --markdown
    """
    forms = {"--json": as_json, "--markdown": as_markdown, "--latex": as_latex}
    forms = {option: wanted for option, wanted in forms.items() if wanted}
    asked = {"--gradient-scale": gradient_scale, "--stable-step": stable_step}
    given = [option for option, value in asked.items() if value is not None]
    if table:
        others = [
            *given,
            *(["--constant"] if constant else []),
            *(["--out"] if out else []),
            *(["--label"] if label else []),
        ]
        if others or len(forms) > 1:
            got = " and ".join(["--table", *others, *forms])
            raise typer.BadParameter(
                f"--table takes --link or --from, and one of --json, --markdown and --latex, but got {got}."
            )
        _print_table(link, source, next(iter(forms), ""))
        return
    for option in ("--markdown", "--latex", *(["--from"] if source else [])):
        if option in forms or option == "--from":
            raise typer.BadParameter(f"{option} goes with --table.")
    if len(given) != 1:
        got = " and ".join(given) or "none of them"
        raise typer.BadParameter(f"give one of {', '.join(asked)} and --table, but got {got}.")
    _check_out(out)
    from stablessm.cli.verify import _constants
    from stablessm.design import DesignError, Unsolved, from_gradient_scale, from_stable_step
    from stablessm.parameterizations import ParameterizationError
    from stablessm.theory import verify

    constants = _constants(constant or [])
    answer = from_gradient_scale if gradient_scale is not None else from_stable_step
    try:
        found = answer(asked[given[0]], link=link, constants=constants, name=label)
    except (DesignError, ParameterizationError) as error:
        raise typer.BadParameter(f"{given[0]}: {error}") from None
    except Unsolved as reason:
        _fail(str(reason))
    certificate = verify(found.map)
    _show(found, certificate, as_json)
    stability = certificate["stability"]
    if stability.verdict == "refuted":
        _fail(
            f"the solution is not stable for every weight ({stability.expression}), and a sweep takes stable maps only"
        )
    _write(found, out)


def _print_table(link: str, source: Path | None, form: str) -> None:
    """Print the comparison of the maps of a dataset, or of all built-in maps that have the link."""
    from stablessm.design import pages
    from stablessm.design.table import compare

    tables = compare(_certificates(link, source))
    if form == "--json":
        typer.echo(json.dumps(pages.document(tables), indent=2))
    else:
        typer.echo({"--markdown": pages.markdown, "--latex": pages.latex}.get(form, pages.text)(tables))


def _certificates(link: str, source: Path | None) -> xr.Dataset:
    from stablessm import datasets

    if source is not None:
        return datasets.load(source)
    import tempfile

    from stablessm.parameterizations import PARAMETERIZATIONS, ParameterizationError
    from stablessm.parameterizations.links import LINKS
    from stablessm.sweeps import run_sweep

    if link not in LINKS:
        raise ParameterizationError(f"--link must be one of {', '.join(LINKS)}, but got {link!r}.")
    maps = [name for name, one in PARAMETERIZATIONS.items() if link in one.links]
    document = {"name": "table", "measurement": "certificates", "axes": {"parameterization": maps, "link": [link]}}
    with tempfile.TemporaryDirectory() as folder:
        return run_sweep(document, out=folder)


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
    typer.echo(f"for verify:           --formula {shlex.quote(found.map.formula)}")


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


def _fail(sentence: str) -> None:
    typer.echo(f"Error: {' '.join(sentence.split()).rstrip('.')}.", err=True)
    raise typer.Exit(1)
