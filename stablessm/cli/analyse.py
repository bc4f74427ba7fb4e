"""`stablessm analyse`: the reductions of an experiment's dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def analyse(
    experiment: Annotated[str, typer.Argument(help="A bundled experiment, or the path of a TOML file.")],
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Annotated[Path | None, typer.Option(help="Folder of the results.")] = None,
) -> None:
    """Reduce the dataset of an experiment, as its declaration says.

    Examples:

        stablessm analyse lr_stability
    """
    from stablessm.cli.pipeline import analyse_experiment
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.places import places

    for path in analyse_experiment(load_spec(experiment, scale=scale), places(out)):
        typer.echo(f"saved {path}")
