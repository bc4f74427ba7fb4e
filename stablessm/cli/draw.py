"""`stablessm draw`: the figures of an experiment."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from stablessm.cli.options import Out


def draw(
    experiment: Annotated[str, typer.Argument(help="A bundled experiment, or the path of a TOML file.")],
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Out = None,
    format_: Annotated[
        list[str] | None, typer.Option("--format", help="pdf, svg or png; a comma list, or repeated. All by default.")
    ] = None,
) -> None:
    """Draw the figures of an experiment from its datasets, as PDF, SVG and PNG.

    Examples:

        stablessm draw lr_stability

        stablessm draw digits --format png,svg
    """
    formats = _formats(format_)
    from stablessm.cli.pipeline import arguments, draw_experiment, writing
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.folders import check

    where = check(out)
    spec = load_spec(experiment, scale=scale)
    with writing():
        written = draw_experiment(spec, where, formats=formats, given=arguments(experiment, scale, out))
    for path in written:
        typer.echo(f"saved {path}")
    if not written:
        typer.echo(f"the experiment '{spec.name}' declares no figures")


def _formats(given: list[str] | None) -> list[str]:
    """Return the formats asked for, each once, in the order given."""
    from stablessm.plotting.saving import FORMATS

    wanted = list(dict.fromkeys(part.strip().lower() for entry in given or FORMATS for part in entry.split(",")))
    for one in wanted:
        if one not in FORMATS:
            near = get_close_matches(one, FORMATS, 1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise typer.BadParameter(f"--format must be some of {', '.join(FORMATS)}, but got {one!r}{hint}")
    return wanted
