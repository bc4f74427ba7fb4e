"""`stablessm reproduce`: the main job in one command: run, analyse, draw, verify, decide the claims."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.cli.options import Out
from stablessm.sweeps.places import Places, stem

if TYPE_CHECKING:
    import xarray as xr

    from stablessm.sweeps.spec import Spec

MAIN_JOB = (
    "maps",
    "gradient_scale",
    "certificates",
    "representable_memory",
    "memory",
    "gradient_bound",
    "mode_perturbation",
    "poles_and_residues",
    "largest_step",
    "gradient_ratio",
    "lr_stability",
    "largest_rate",
    "autocorrelation",
    "perturbation",
    "digits",
)
_VERDICTS = "verdicts"

Waiting = deque[Future[list[Path]]]


def reproduce(
    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="[EXPERIMENT ...]", help=f"By default {', '.join(MAIN_JOB)}.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every bundled experiment.")] = False,
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    out: Out = None,
    data: DataFolder = None,
) -> None:
    """Run experiments, reduce and draw them, verify every map, decide the published claims, and print what came out.

    What is there already and made from the same by the same code is left as it is.

    Examples:

        stablessm reproduce

        stablessm reproduce maps gradient_scale --out results
    """
    if every and experiments:
        raise typer.BadParameter("give EXPERIMENT names or --all, not both")
    from stablessm.cli.claims import evidence_files
    from stablessm.cli.made import Made
    from stablessm.cli.run import run_one
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.device import forget_programs
    from stablessm.sweeps.executors import Hiring
    from stablessm.sweeps.folders import check
    from stablessm.sweeps.places import names

    began = time.perf_counter()
    where = check(out)
    use_data_folder(data)
    chosen = dict.fromkeys(experiments or (names("experiments") if every else MAIN_JOB))
    specs = [load_spec(one, scale=scale) for one in chosen]
    made, done, waiting = Made(where), 0, Waiting()
    # What needs no JAX is done beside the sweeps; for a few experiments another process would only cost its start.
    with (Hiring() if experiments else Hiring("processes", workers=1)).opened() as crew:
        if not experiments and not made.is_current(_VERDICTS, ()):
            waiting.append(crew.executor.submit(_verify, where))
        for spec in specs:
            done += run_one(spec, device, False, out)
            forget_programs()
            if not made.is_current(_step(spec), [where.dataset(spec.name, spec.scale)]):
                waiting.append(crew.executor.submit(_reduce_and_draw, spec, where))
            done += _say_saved(waiting, wait=False)
        done += _say_saved(waiting)
        if not experiments:
            evidence = list(evidence_files(where, scale).values())
            if not Made(where).is_current(_claims(scale), evidence):
                waiting.append(crew.executor.submit(_decide_claims, where, scale, evidence))
        done += _say_saved(waiting)
    for spec in specs:
        _summarise(spec, where)
    count = f"{len(specs)} experiment{'s' * (len(specs) > 1)}"
    if done:
        typer.echo(f"\nreproduced {count} in {time.perf_counter() - began:.0f} s")
    else:
        typer.echo(f"\nnothing to do: {count} with all analyses and figures made already by this version of the code")


def _step(spec: Spec) -> str:
    return f"{stem(spec.name, spec.scale)}: {', '.join(dict.fromkeys([*spec.analyses, *spec.figures]))}"


def _reduce_and_draw(spec: Spec, where: Places) -> list[Path]:
    """Make the analyses and figures of an experiment; return the files written."""
    from stablessm.cli.made import Made
    from stablessm.cli.pipeline import analyse_experiment, draw_experiment

    def action() -> list[Path]:
        return [*analyse_experiment(spec, where), *draw_experiment(spec, where)]

    return Made(where).make(_step(spec), [where.dataset(spec.name, spec.scale)], action)


def _verify(where: Places) -> list[Path]:
    """Verify every built-in map under every legal link; return the page written."""
    from stablessm.cli.made import Made
    from stablessm.cli.verdicts import write_verdicts

    return Made(where).make(_VERDICTS, (), partial(write_verdicts, where.analysis / "verdicts.md"))


def _claims(scale: str) -> str:
    return f"claims, {scale}"


def _decide_claims(where: Places, scale: str, evidence: Sequence[Path]) -> list[Path]:
    """Decide the published claims from the datasets that there are; return the files written."""
    from stablessm.cli.claims import write_claims
    from stablessm.cli.made import Made

    return Made(where).make(_claims(scale), evidence, partial(write_claims, where, scale))


def _say_saved(waiting: Waiting, *, wait: bool = True) -> int:
    """Name the files of the steps that are done, in the order they were begun; return how many files there are."""
    from stablessm.cli.pipeline import writing

    count = 0
    while waiting and (wait or waiting[0].done()):
        try:
            with writing():
                paths = waiting.popleft().result()
        except BrokenExecutor:
            typer.echo("Error: the process that analyses and draws was ended; run it again for what is left", err=True)
            raise typer.Exit(1) from None
        for path in paths:
            typer.echo(f"saved {path}")
        count += len(paths)
    return count


def _summarise(spec: Spec, where: Places) -> None:
    """Print the table of an experiment's largest stable rates, accuracies or perturbation radii."""
    from stablessm import datasets
    from stablessm.cli.pipeline import analysis_path, raw_dataset

    for analysis, variable in (("stable_rates", "median_largest_rate"), ("accuracy", "best_accuracy")):
        path = analysis_path(spec, where, analysis)
        if analysis in spec.analyses and path.exists():
            found = datasets.load(path)[variable]
            _print_matrix(spec.name, found)
    if "perturbation_radius" in spec.analyses:
        found = datasets.load(analysis_path(spec, where, "perturbation_radius"))
        for step in found["discretisation"].values:
            one = found.sel(discretisation=step).isel(error_horizon=-1)
            for variable in ("median_explosion_beta", "median_loss_explosion_beta"):
                _print_matrix(f"{spec.name}, {step}", one[variable])
        _print_matrix(spec.name, found["published_explosion_beta"])
    if spec.measurement == "largest_rate":
        found = raw_dataset(spec, where)["largest_stable_learning_rate"]
        _print_matrix(spec.name, found.median("seed", keep_attrs=True))


def _print_matrix(name: str, values: xr.DataArray) -> None:
    squeezed = values.squeeze(
        [one for one in values.dims if one != "parameterization" and values.sizes[one] == 1], drop=True
    )
    other = [dimension for dimension in squeezed.dims if dimension != "parameterization"]
    typer.echo(f"\n{name}: {values.attrs.get('long_name', values.name)}")
    flat = squeezed.stack(column=other) if other else squeezed.expand_dims(column=[""], axis=-1)
    columns = [" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in flat["column"].values.tolist()]
    widths = [max(20, len(column) + 2) for column in columns]
    typer.echo("  " + " " * 12 + "".join(f"{one:>{width}}" for one, width in zip(columns, widths, strict=True)))
    for label in flat["parameterization"].values:
        row = flat.sel(parameterization=label).values
        shown = ["-" if value != value else f"{float(value):.4g}" for value in row]
        typer.echo(f"  {label!s:<12}" + "".join(f"{one:>{width}}" for one, width in zip(shown, widths, strict=True)))
