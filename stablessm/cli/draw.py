"""`stablessm draw`: the figures of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def draw(
    experiment: Annotated[str, typer.Argument(help="A bundled experiment, or the path of a TOML file.")],
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Annotated[Path | None, typer.Option(help="Folder of the results.")] = None,
) -> None:
    """Draw the figures of an experiment from its datasets, as PDF, SVG and PNG.

    Examples:

        stablessm draw lr_stability
    """
    from stablessm.cli.pipeline import draw_experiment
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.places import places

    for path in draw_experiment(load_spec(experiment, scale=scale), places(out)):
        typer.echo(f"saved {path}")
