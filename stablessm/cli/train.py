"""`stablessm train`: train a stack of layers on data, or go on where it was left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.cli.options import Out

if TYPE_CHECKING:
    from stablessm.runs.setup import Ready


def train(
    task: Annotated[
        str, typer.Argument(help="A data set, a bundled training run, or the path of a TOML or data file.")
    ],
    layer: Annotated[
        str | None, typer.Option(metavar="NAME[,NAME...]", help="Kinds of layer, the first one next to the input.")
    ] = None,
    parameterization: Annotated[
        str | None, typer.Option(metavar="NAME|FORMULA", help="The map of the eigenvalues: a name, or the decay s(w).")
    ] = None,
    link: Annotated[str | None, typer.Option(help="Link of the map.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a key of the run, its model, its recipe or its data."
        ),
    ] = None,
    length: Annotated[int | None, typer.Option(help="Steps of series that are generated, like --set length=N.")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps of the optimiser.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights, order of the rows and dropout.")] = None,
    name: Annotated[str | None, typer.Option(help="Names the files.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be trained and what it needs; write nothing.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Replace an earlier run of this name.")] = False,
    data: DataFolder = None,
    out: Out = None,
) -> None:
    """Train, with a look at held-out rows now and then; the same command goes on with what was interrupted.

    What comes of it is NAME.nc, the metrics along the run, and NAME.checkpoint, which `stablessm evaluate` takes.
    A step that is not finite ends the run; that is an outcome, said with its step and the layer where it began.

    Examples:

        stablessm train mnist --layer s4d --parameterization best --set sequence=rows --steps 500 --data FOLDER

        stablessm train digits --parameterization "1/(w^2+0.7)" --set depth=1 --set width=16 --steps 100

        stablessm train shakespeare --layer gated_ssm --set context=128 --set learning_rate=0.002 --data FOLDER

        stablessm train shift --layer dlr --length 256 --set start=fourier --set width=32 --set states=256

        stablessm train recall --layer gated_ssm,attention --set length=64 --set seed=1 --dry-run

    """
    from stablessm.cli.training import telling
    from stablessm.datasets import DatasetWriteError
    from stablessm.runs import load_declaration
    from stablessm.sweeps.device import DEVICES
    from stablessm.sweeps.errors import SpecError, unknown
    from stablessm.sweeps.folders import check

    if device not in DEVICES:
        raise SpecError(f"--device: {unknown('device', device, DEVICES)}.")
    check(out, writing=not dry_run)
    use_data_folder(data)
    declaration = load_declaration(
        task,
        overrides=[*(set_ or ()), *([] if length is None else [f"length={length}"])],
        layer=None if layer is None else [one.strip() for one in layer.split(",")],
        parameterization=parameterization,
        link=link,
        steps=steps,
        seed=seed,
        name=name,
    )
    from stablessm.runs.setup import ready

    run = ready(declaration, device=device)
    if dry_run:
        _describe(run)
        return
    from stablessm.runs.training import execute

    try:
        with telling(declaration.name) as tell:
            result = execute(run, out=out, fresh=fresh, progress=tell)
    except DatasetWriteError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    if result.complete:
        typer.echo(f"{result.path} is complete already; nothing to run (--fresh runs it again)")
    told = f"{declaration.name}: {result.outcome} after {result.steps} step{'s' * (result.steps != 1)}"
    if result.first_bad_place:
        told += (
            f"; step {result.first_bad_step} was the first that is not finite, and it began in {result.first_bad_place}"
        )
    elif result.stopped_early:
        told += ", as the validation rows had not got better"
    metric = run.task.metric
    seen = result.dataset[f"validation_{metric}"].values
    if seen.size:
        best = seen.max() if run.task.more_is_better else seen.min()
        told += f"; best validation {metric.replace('_', ' ')} {best:.4g} at step {int(result.dataset['best_step'])}"
    typer.echo(told)
    if not result.complete:
        typer.echo(f"saved {result.path} and {result.checkpoint}")


def _describe(run: Ready) -> None:
    """Print what would be trained, and what its compiled step holds in memory."""
    import json

    import equinox as eqx
    import jax

    from stablessm.sweeps.memory import compiled_bytes, least_bytes, memory_of, sized

    declaration, task = run.declaration, run.task
    with run.on_device():
        count = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(run.model, eqx.is_inexact_array)))
        program = run.training.traced()
        needed = compiled_bytes(program.lower().compile())  # not every compiler says
        told = sized(needed) if needed else f"at least {sized(least_bytes(program.jaxpr))}"
        typer.echo(json.dumps(declaration.document(), indent=1, ensure_ascii=False))
        rows = len(task.splits["train"].inputs)
        typer.echo(
            f"{count:,} parameters, {rows} training rows of {task.splits['train'].inputs.shape[1]} steps, "
            f"{declaration.batches} steps of {declaration.recipe.batch} rows "
            f"({declaration.batches * declaration.recipe.batch / rows:.3g} epochs)"
        )
        typer.echo(
            f"a step holds {told} of {sized(memory_of(run.device))} on {run.device}; nothing was run, and nothing "
            "written"
        )
