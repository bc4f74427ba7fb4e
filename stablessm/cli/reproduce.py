"""`stablessm reproduce`: the main job in one command: run, analyse, draw, verify, decide the claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.cli.options import Out

if TYPE_CHECKING:
    import xarray as xr

    from stablessm.cli.made import Made
    from stablessm.sweeps.places import Places
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
_CLAIMS = "claims"


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
    from stablessm.cli.made import Made
    from stablessm.cli.pipeline import writing
    from stablessm.cli.run import run_one
    from stablessm.cli.verdicts import proving
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.device import forget_programs
    from stablessm.sweeps.folders import check
    from stablessm.sweeps.places import names

    began = time.perf_counter()
    where = check(out)
    use_data_folder(data)
    chosen = dict.fromkeys(experiments or (names("experiments") if every else MAIN_JOB))
    specs = [load_spec(one, scale=scale) for one in chosen]
    made, done = Made(where), 0
    proved = bool(experiments) or made.is_current(_VERDICTS, ())
    with nullcontext() if proved else proving() as verdicts:
        for spec in specs:
            done += run_one(spec, device, False, out)
            forget_programs()
            with writing():
                done += _reduce_and_draw(spec, where, made)
        if verdicts is not None:
            with writing():
                done += _say_saved(made.make(_VERDICTS, (), partial(_write_verdicts, where, verdicts)))
    if not experiments:
        done += _decide_claims(where, made, scale)
    for spec in specs:
        _summarise(spec, where)
    count = f"{len(specs)} experiment{'s' * (len(specs) > 1)}"
    if done:
        typer.echo(f"\nreproduced {count} in {time.perf_counter() - began:.0f} s")
    else:
        typer.echo(f"\nnothing to do: {count} with all analyses and figures made already by this version of the code")


def _reduce_and_draw(spec: Spec, where: Places, made: Made) -> int:
    """Make what analyses and figures of an experiment are not made yet; return how many files were written."""
    from stablessm.cli.pipeline import analyse_experiment, draw_experiment

    raw = where.dataset(spec.name, spec.scale)
    step = f"{raw.stem}: {', '.join(dict.fromkeys([*spec.analyses, *spec.figures]))}"
    if made.is_current(step, [raw]):
        return 0
    return _say_saved(made.make(step, [raw], lambda: [*analyse_experiment(spec, where), *draw_experiment(spec, where)]))


def _decide_claims(where: Places, made: Made, scale: str) -> int:
    """Write the page of claims, unless it is made already from the datasets that there are."""
    from stablessm.cli.claims import evidence_files, write_claims
    from stablessm.cli.pipeline import writing

    inputs = list(evidence_files(where, scale).values())
    step = f"{_CLAIMS}, {scale}"
    if made.is_current(step, inputs):
        return 0
    with writing():
        return _say_saved(made.make(step, inputs, lambda: write_claims(where, scale)))


def _write_verdicts(where: Places, verdicts: Callable[[], str]) -> list[Path]:
    from stablessm.writing import write_whole

    path = where.analysis / "verdicts.md"
    write_whole(path, verdicts().encode())
    return [path]


def _say_saved(paths: Sequence[Path]) -> int:
    for path in paths:
        typer.echo(f"saved {path}")
    return len(paths)


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
