"""`stablessm diff`: two datasets of one experiment against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import xarray as xr


def diff(
    one: Annotated[Path, typer.Argument(help="A dataset.")],
    two: Annotated[Path, typer.Argument(help="Another of the same experiment.")],
    relative: Annotated[float, typer.Option(help="Tolerance, relative to the larger of two numbers.")] = 1e-3,
    absolute: Annotated[float, typer.Option(help="Tolerance, relative to a variable's largest number.")] = 1e-6,
) -> None:
    """Say in which settings two datasets differ and how far their numbers are apart.

    In a dataset with outcomes, numbers are held to the tolerance where the run is stable in both: beyond the stability
    limit training amplifies the last digit. Exit code 1 where something is beyond the tolerance.

    Examples:

        stablessm diff cpu/raw/lr_stability.nc gpu/raw/lr_stability.nc

        stablessm diff one.nc two.nc --relative 1e-2
    """
    from rich.table import Table

    from stablessm import datasets
    from stablessm.cli.console import table_console
    from stablessm.comparison import compare
    from stablessm.sweeps.spec import difference

    for name, value in (("--relative", relative), ("--absolute", absolute)):
        if not 0 <= value < float("inf"):
            raise typer.BadParameter(f"{name} must be a finite number of at least 0, but got {value}")
    first, second = datasets.load(one), datasets.load(two)
    rows = compare(first, second, relative=relative, absolute=absolute)
    for line in difference(_spec(first), _spec(second)):
        typer.echo(f"differs in {line}")
    for path in (one, two):
        typer.echo(f"{path}: {_made(path)}")
    table = Table("variable", "values", "equal", "largest relative difference", "beyond tolerance", box=None)
    for row in rows:
        table.add_row(row.name, str(row.values), str(row.equal), f"{row.relative:.2g}", str(row.beyond))
    table_console().print(table)
    left = (set(map(str, first.data_vars)) | set(map(str, second.data_vars))) - {row.name for row in rows}
    if left:
        typer.echo(f"not compared, for want of equal axes or of a counterpart: {', '.join(sorted(left))}")
    beyond = [row.name for row in rows if row.beyond]
    typer.echo(f"beyond the tolerance: {', '.join(beyond)}" if beyond else "all within the tolerance")
    if beyond:
        raise typer.Exit(1)


def _spec(dataset: xr.Dataset) -> dict[str, Any]:
    try:
        found = json.loads(dataset.attrs.get("spec", "{}"))
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _made(path: Path) -> str:
    """Return the device and the speed that the provenance beside a dataset tells."""
    try:
        about = json.loads(path.with_suffix(".provenance.json").read_text())
    except (OSError, ValueError):
        return "no provenance beside it"
    if not isinstance(about, dict) or not about.get("device"):
        return "no device is on record"
    return f"{about['device']}, {about.get('cells_per_second', '?')} cells per second with set-up"
