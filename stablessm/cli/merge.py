"""`stablessm merge`: partial results of one measurement, from several machines, joined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stablessm.cli.options import OutNeeded


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Stores (.zarr) or datasets (.nc).")],
    out: OutNeeded,
) -> None:
    """Join partial results; what nobody has computed is left to `stablessm run`.

    They have one measurement and equal settings; their axes may hold different values, or their stores different cells.
    Two that hold different values of one cell are refused.

    Examples:

        stablessm merge here/raw/lr_stability.zarr there/raw/lr_stability.zarr --out both

        stablessm merge a/raw/memory.nc b/raw/memory.nc c/raw/memory.nc --out all
    """
    from stablessm.datasets import DatasetWriteError
    from stablessm.sweeps import merge as joining
    from stablessm.sweeps.errors import WriteError

    try:
        merged = joining.merge(sources, out=out)
    except (WriteError, DatasetWriteError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"saved {merged.path}")
    if merged.done < merged.cells:
        typer.echo(f"{merged.done} of {merged.cells} cells are done; the rest: stablessm run {merged.path} --out {out}")
