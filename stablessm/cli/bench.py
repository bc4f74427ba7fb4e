"""`stablessm bench`: paired ratios, never bare times."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="All by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer rounds and a smaller, declared workload.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
) -> None:
    """Measure against the peers: candidates take turns in one process; medians of CPU and wall time per unit of work.

    Examples:

        stablessm bench sweep --quick
    """
    from stablessm.bench import BENCHMARKS

    for name in names or []:
        if name not in BENCHMARKS:
            near = get_close_matches(name, BENCHMARKS, 1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise typer.BadParameter(f"NAME must be one of {', '.join(BENCHMARKS)}, but got {name!r}{hint}")

    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from stablessm.bench.base import paired
    from stablessm.cli.console import table_console
    from stablessm.sweeps.device import choose_device, computing

    chosen = choose_device(device)
    rounds = 3 if quick else 7
    for name in dict.fromkeys(names or BENCHMARKS):
        with computing(chosen, "float32"), Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(f"{name}: compiling", total=rounds)
            candidates = BENCHMARKS[name].candidates(quick=quick)
            progress.update(task, description=name)
            timings = paired(candidates, rounds, tell=lambda done, task=task: progress.update(task, completed=done))
        table = Table(title=f"{name}: medians of {rounds} rounds on {chosen.platform}, per unit of work")
        for column in (
            "candidate",
            "CPU ms",
            "wall ms",
            "CPU ratio",
            "wall ratio",
            "temp MB",
            "difference",
            "declared",
        ):
            table.add_column(column, justify="left" if column in ("candidate", "declared") else "right")
        peer = timings[candidates[0].name]
        for one in candidates:
            time = timings[one.name]
            table.add_row(
                one.name,
                f"{time.cpu * 1e3:.3g}",
                f"{time.wall * 1e3:.3g}",
                f"{peer.cpu / time.cpu:.1f}",
                f"{peer.wall / time.wall:.1f}",
                "" if one.temporary_bytes is None else f"{one.temporary_bytes / 1e6:.2g}",
                "" if one.difference is None else f"{one.difference:.1e}",
                one.declared,
            )
        table_console().print(table)
