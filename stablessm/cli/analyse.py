"""`stablessm analyse`: the reductions of an experiment's dataset."""

from __future__ import annotations

from typing import Annotated

import typer

from stablessm.cli.options import Out


def analyse(
    experiment: Annotated[str, typer.Argument(help="A bundled experiment, or the path of a TOML file.")],
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Out = None,
) -> None:
    """Reduce the dataset of an experiment, as its declaration says.

    Examples:

        stablessm analyse lr_stability

        stablessm analyse digits --out mine
    """
    from stablessm.cli.pipeline import analyse_experiment, arguments, writing
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.folders import check

    where = check(out)
    spec = load_spec(experiment, scale=scale)
    with writing():
        written = analyse_experiment(spec, where, given=arguments(experiment, scale, out))
    for path in written:
        typer.echo(f"saved {path}")
    if not written:
        typer.echo(f"the experiment '{spec.name}' declares no analyses; its figures read its dataset")
