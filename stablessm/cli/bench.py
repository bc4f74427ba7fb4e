"""`stablessm bench`: paired ratios, never bare times."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.options import Out

if TYPE_CHECKING:
    from stablessm.bench.dataset import Row
    from stablessm.sweeps.places import Places


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="All by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer rounds and a smaller, declared workload.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    keep: Annotated[
        bool, typer.Option("--keep", help="In a checkout: replace the rows of the kept bench.nc, which git tracks.")
    ] = False,
    out: Out = None,
) -> None:
    """Measure against the peers: candidates take turns in one process; medians of CPU and wall time per unit of work.

    What comes of it is results/raw/bench.nc, or that of --out. It is of this machine, so that the file a checkout keeps
    is left alone without --keep.

    Examples:

        stablessm bench sweep --quick

        stablessm bench train --quick --out mine

        stablessm bench siso powers --out mine

        stablessm bench --device gpu --quick
    """
    from stablessm.bench import BENCHMARKS

    for name in names or []:
        if name not in BENCHMARKS:
            near = get_close_matches(name, BENCHMARKS, 1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise typer.BadParameter(f"NAME must be one of {', '.join(BENCHMARKS)}, but got {name!r}{hint}")

    from rich.console import Console
    from rich.progress import Progress

    from stablessm import datasets
    from stablessm.bench.base import paired
    from stablessm.bench.dataset import dataset, rows_of
    from stablessm.cli.pipeline import arguments, writing
    from stablessm.sweeps.device import choose_device, computing, enable_compilation_cache
    from stablessm.sweeps.errors import SweepError
    from stablessm.sweeps.folders import check
    from stablessm.sweeps.places import places

    if keep and (out is not None or not _is_kept(places())):
        raise typer.BadParameter("--keep goes with a folder inside a checkout of stablessm, and without --out")
    out = out or (None if keep else Path("results"))
    path = check(out).dataset("bench")
    kept = datasets.load(path) if path.exists() else None
    try:
        chosen = choose_device(device)
    except SweepError as error:
        if device != "gpu":
            raise
        chosen = choose_device("cpu")
        typer.echo(f"{error} Running on cpu.", err=True)
    enable_compilation_cache()
    rounds, rows = 3 if quick else 7, []
    for name in dict.fromkeys(names or BENCHMARKS):
        mine = []
        with computing(chosen, "float32"), Progress(console=Console(stderr=True), transient=True) as progress:
            for case in BENCHMARKS[name].cases(quick=quick):
                task = progress.add_task(f"{name}, {case.name}, {case.length} steps", total=rounds)
                timings = paired(
                    case.candidates, rounds, tell=lambda done, task=task: progress.update(task, completed=done)
                )
                mine += rows_of(name, case, timings, platform=chosen.platform, rounds=rounds)
        _print(name, mine)
        rows += mine
        with writing():
            datasets.save(dataset(rows, kept), path)
    if device == "gpu":
        with computing(chosen, "float32"):
            _errors(chosen.platform)
    typer.echo(f"saved {path}; stablessm draw {arguments('bench', out=out)} makes the figure")


def _is_kept(where: Places) -> bool:
    """Whether these are the folders of the checkout that this package runs from."""
    from stablessm.sweeps.places import checkout

    root = checkout()
    return root is not None and where.raw.is_relative_to(root / "experiments")


def _errors(platform: str) -> None:
    """Print the engine's errors against float64 on the device."""
    from rich.table import Table

    from stablessm.cli.console import table_console
    from stablessm.engine import error_estimate

    table = Table("operation", "modes", "steps", "error", title=f"engine in float32 on {platform}, against float64")
    for operation in ("powers", "kernel", "convolve", "convolution", "chunked", "recur"):
        error = error_estimate(operation, states=16, length=4096)
        table.add_row(operation, "16", "4096", f"{error:.1e}")
    table_console().print(table)


def _print(name: str, rows: list[Row]) -> None:
    """Print a benchmark: times, ratios to the first candidate of each case, memory and error."""
    from rich.table import Table

    from stablessm.cli.console import table_console

    table = Table(title=f"{name}: medians of {rows[0].rounds} rounds on {rows[0].platform}, per unit of work")
    heads = ("case", "candidate", "CPU ms", "wall ms", "CPU ratio", "wall ratio", "temp MB", "error", "cut")
    for head in heads:
        table.add_column(head, justify="left" if head in ("case", "candidate", "cut") else "right")
    for row in rows:
        length = f", {row.length} steps" if row.length else ""
        length += f", {row.states} modes" if row.case.startswith("memory") else ""
        table.add_row(
            f"{row.case}{length}",
            row.candidate,
            *("" if time < 0 else f"{time * 1e3:.3g}" for time in (row.cpu, row.wall)),
            *("" if ratio < 0 else f"{ratio:.3g}" for ratio in (row.cpu_ratio, row.wall_ratio)),
            "" if row.temporary_bytes < 0 else f"{row.temporary_bytes / 1e6:.2g}",
            "" if row.error < 0 else f"{row.error:.1e}",
            "" if row.declared == "nothing" else row.declared,
        )
    table_console().print(table)
