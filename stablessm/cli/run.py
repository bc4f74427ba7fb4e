"""`stablessm run`: run an experiment, or what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.cli.options import Out

if TYPE_CHECKING:
    from stablessm.sweeps.executors import Hiring
    from stablessm.sweeps.progress import Progress
    from stablessm.sweeps.spec import Spec


def run(
    experiment: Annotated[str, typer.Argument(help="A bundled experiment, or the path of a TOML file.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override an axis (v1,v2 or log(lo,hi,n)) or a setting."),
    ] = None,
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run and what it costs; write nothing.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Replace an earlier run of this name.")] = False,
    out: Out = None,
    chunk: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Cells in one work item, a stored setting; auto fits a device.")
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(metavar="[LABEL=]FILE.npz", help="Measure these weights and gradients (gradient_ratio only)."),
    ] = None,
    data: DataFolder = None,
    executor: Annotated[str, typer.Option(help="local, processes, dask or slurm.")] = "local",
    workers: Annotated[int | None, typer.Option(metavar="N", help="How many compute; not with local.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a dask cluster; slurm for one of SLURM jobs.")
    ] = None,
    log: Annotated[
        list[str] | None, typer.Option(metavar="tensorboard|wandb", help="Log the count for these tools too.")
    ] = None,
) -> None:
    """Run an experiment and save its dataset; what is done already is not run again.

    A file of --weights has the arrays weight/NAME and gradient/NAME, and where the first axis is steps, step.

    Examples:

        stablessm run lr_stability

        stablessm run lr_stability --set "parameterization=exp,best(b=0.1)" --set "learning_rate=log(1e-3,1,8)"

        stablessm run lr_stability --set seed=0,1,2 --set steps=200 --chunk auto --dry-run

        stablessm run gradient_ratio --weights exp=run1.npz --weights best=run2.npz --out mine

        stablessm run digits --scale full --data ~/data

        stablessm run lr_stability --scale full --executor processes --workers 8

        stablessm run lr_stability --scale full --executor dask --scheduler tcp://head:8786
    """
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.device import DEVICES
    from stablessm.sweeps.errors import SpecError, unknown
    from stablessm.sweeps.executors import Hiring
    from stablessm.sweeps.folders import check
    from stablessm.sweeps.sinks import chosen

    hiring = Hiring(executor, workers, scheduler)
    logs = chosen([part.strip() for entry in log or () for part in entry.split(",")])

    if device not in DEVICES:
        raise SpecError(f"--device: {unknown('device', device, DEVICES)}.")
    check(out, writing=not dry_run)
    use_data_folder(data)
    spec = load_spec(experiment, scale=scale, overrides=set_ or (), chunk=_whole(chunk))
    if weights:
        from stablessm.cli.weights import measure_weights

        if set_ or dry_run or chunk is not None:
            raise typer.BadParameter("--weights measures what is there: it takes no --set, --chunk or --dry-run")
        measure_weights(spec, weights, fresh=fresh, out=out)
        return
    if dry_run:
        _describe(spec, device)
        return
    run_one(spec, device, fresh, out, hiring, logs)


def run_one(
    spec: Spec, device: str, fresh: bool, out: Path | None, hiring: Hiring | None = None, logs: Sequence[str] = ()
) -> int:
    """Run one experiment with its progress shown, and say what was saved.

    Args:
        spec: the experiment.
        device: "auto", "cpu" or "gpu".
        fresh: whether to replace an earlier run.
        out: folder of the results.
        hiring: who computes; this process by default.
        logs: sinks that are told how far it is, in a folder NAME.logs beside the dataset.

    Returns:
        The number of cells computed; 0 where all was done before.

    Raises:
        typer.Exit: with code 1, where a work item failed or the disk refused.
    """
    from stablessm.cli.progress import watching
    from stablessm.datasets import DatasetWriteError
    from stablessm.sweeps.errors import ExecutorError, WriteError
    from stablessm.sweeps.places import places
    from stablessm.sweeps.run import execute
    from stablessm.sweeps.sinks import logging

    try:
        with ExitStack() as held:
            watchers = [held.enter_context(watching(spec.name))]
            if logs:
                folder = places(out).dataset(spec.name, spec.scale).with_suffix(".logs")
                watchers.append(held.enter_context(logging(logs, folder, spec.name, spec.settings)))

            def tell(progress: Progress) -> None:
                for watcher in watchers:
                    watcher(progress)

            result = execute(
                spec, out=out, device=device, fresh=fresh, progress=tell, executor=hiring or "local", load=False
            )
    except (WriteError, ExecutorError, DatasetWriteError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    if result.failures:
        reasons = sorted(set(result.failures.values()))
        count = f"{len(result.failures)} work item{'s' * (len(result.failures) > 1)}"
        typer.echo(f"Error: {count} failed: {'; '.join(reasons[:3])}", err=True)
        typer.echo(f"saved {result.path}")
        raise typer.Exit(1)
    if result.computed == 0:
        typer.echo(f"{result.path} is complete already; nothing to run (--fresh runs it again)")
    else:
        typer.echo(f"saved {result.path}")
    return result.computed


def _describe(spec: Spec, device: str) -> None:
    """Print the resolved declaration, the counts and the estimate."""
    import os

    from stablessm.measurements import MEASUREMENTS
    from stablessm.sweeps.estimate import estimate
    from stablessm.sweeps.fitting import fitted
    from stablessm.sweeps.memory import sized
    from stablessm.sweeps.plan import Plan

    spec = fitted(spec, MEASUREMENTS[spec.measurement], device=device)
    plan = Plan(spec)
    typer.echo(f"{spec.name} ({spec.scale} scale): {spec.measurement}")
    for name, values in spec.coordinates().items():
        typer.echo(f"  {name}: {_listed(values)}")
    for name, value in spec.settings.items():
        typer.echo(f"  settings.{name}: {value}")
    typer.echo(f"  chunk: {spec.chunk}")
    typer.echo(f"{plan.cells} cells in {plan.items} work items of {spec.chunk}")
    try:
        cost = estimate(plan, MEASUREMENTS[spec.measurement], device=device, cores=os.cpu_count() or 1)
    except ValueError:
        raise
    except Exception as error:
        typer.echo(f"no estimate: the first work item fails with {type(error).__name__}: {error}")
        return
    compiled = (
        f"{cost.compile_seconds:.1f} s to compile the first of {cost.compiles} program{'s' * (cost.compiles > 1)}"
    )
    stored = f"{cost.stored_bytes / 1e6:.1f} MB stored; nothing was written"
    if cost.total_seconds is None:
        typer.echo(f"{compiled} on {cost.device}; a work item trains networks and was not run; {stored}")
    else:
        typer.echo(
            f"about {_duration(cost.total_seconds)} on {cost.device} (measured on the first work item: "
            f"{compiled}, {cost.item_seconds:.2f} s to compute), {stored}"
        )
    if cost.held_bytes is not None:
        typer.echo(f"a work item holds {sized(cost.held_bytes)} of {sized(cost.memory_bytes)}")
    if cost.largest_chunk is not None:
        typer.echo(f"the memory holds work items of up to {cost.largest_chunk} cells (--chunk)")


def _whole(text: str | None) -> int | str | None:
    """Return an integer where a text is one; what else it may be is for the declaration to say."""
    whole = text is not None and text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 20
    return int(text) if whole else text


def _listed(values: list[Any]) -> str:
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:5], "...", *shown[-2:]]) + f" ({len(shown)})"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
