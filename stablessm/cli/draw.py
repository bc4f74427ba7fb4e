"""`stablessm draw`: the figures of an experiment."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.options import Out

if TYPE_CHECKING:
    from stablessm.sweeps.places import Places


def draw(
    experiment: Annotated[str, typer.Argument(help="A bundled experiment, the path of a TOML file, or bench.")],
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Out = None,
    format_: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="pdf, svg, png, and gif or mp4 of what moves; a comma list, or repeated. All by default."
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Width and letters of a paper: icml, neurips, iclr, jmlr, ieee; as PDF and SVG by default."),
    ] = None,
) -> None:
    """Draw the figures of an experiment from its datasets, as PDF, SVG and PNG, and what moves as GIF and MP4.

    An MP4 takes FFmpeg; without it there is the GIF alone.

    Examples:

        stablessm draw lr_stability

        stablessm draw digits --format png,svg

        stablessm draw lr_stability --preset icml

        stablessm draw bench
    """
    _refuse_unknown(preset, experiment)
    formats = _formats(format_ if format_ or preset is None else ["pdf", "svg"])
    from stablessm.cli.pipeline import arguments, draw_experiment, writing
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.folders import check

    where = check(out)
    if experiment == "bench":
        with writing():
            written = _draw_benchmarks(where, formats, out)
        for path in written:
            typer.echo(f"saved {path}")
        return
    spec = load_spec(experiment, scale=scale)
    with writing():
        written = draw_experiment(spec, where, formats=formats, preset=preset, given=arguments(experiment, scale, out))
    for path in written:
        typer.echo(f"saved {path}")
    if not written:
        asked = f"figure that is drawn as {', '.join(formats)}" if spec.figures else "figures"
        typer.echo(f"the experiment '{spec.name}' declares no {asked}")


def _refuse_unknown(preset: str | None, experiment: str) -> None:
    if preset is None:
        return
    from stablessm.plotting.presets import PRESETS

    if preset not in PRESETS:
        near = get_close_matches(preset, PRESETS, 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise typer.BadParameter(f"--preset must be one of {', '.join(PRESETS)}, but got {preset!r}{hint}")
    if experiment == "bench":
        raise typer.BadParameter("--preset is for the figures of experiments, and bench is none")


def _formats(given: list[str] | None) -> list[str]:
    """Return the formats asked for, each once, in the order given."""
    from stablessm.plotting.animation import MOVING, encoders
    from stablessm.plotting.saving import FORMATS

    legal = (*FORMATS, *MOVING)
    wanted = list(dict.fromkeys(part.strip().lower() for entry in given or legal for part in entry.split(",")))
    for one in wanted:
        if one not in legal:
            near = get_close_matches(one, legal, 1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise typer.BadParameter(f"--format must be some of {', '.join(legal)}, but got {one!r}{hint}")
        if given and one in MOVING and one not in encoders():
            raise typer.BadParameter(f"--format {one} takes FFmpeg, which is not here; gif takes nothing")
    return wanted


def still_formats(given: list[str] | None) -> list[str]:
    """Return the formats asked for that do not move, for what never does."""
    from stablessm.plotting.saving import FORMATS

    return [one for one in _formats(given) if one in FORMATS]


def _draw_benchmarks(where: Places, formats: list[str], out: Path | None) -> list[Path]:
    """Draw what `stablessm bench` stored."""
    from stablessm import datasets
    from stablessm.bench.picture import draw as picture
    from stablessm.cli.pipeline import MissingDataset
    from stablessm.plotting.saving import FORMATS, drawn, save

    path = where.dataset("bench")
    if not path.exists():
        given = "" if out is None else f" --out {shlex.quote(str(out))}"
        raise MissingDataset(f"'{path}' is not there; make it with: stablessm bench{given}")
    data = datasets.load(path)
    return save(drawn(picture, data), where.figures, "bench", [one for one in formats if one in FORMATS])
