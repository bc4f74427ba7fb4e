"""`stablessm evaluate`: how well a checkpoint does on rows it was not trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stablessm.cli.data_folder import DataFolder, use_data_folder
from stablessm.cli.options import Out

if TYPE_CHECKING:
    from stablessm.runs.evaluation import Evaluation


def evaluate(
    checkpoint: Annotated[Path, typer.Argument(help="The checkpoint of a training run.")],
    split: Annotated[str, typer.Option(help="test or validation.")] = "test",
    data: DataFolder = None,
    device: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    per_class: Annotated[bool, typer.Option("--per-class", help="The accuracy of each class, too.")] = False,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Of tokens: what counting comes to, too: of a text pieces of seven.")
    ] = False,
    note: Annotated[
        bool, typer.Option("--note", help="Add the scores to the dataset of the run, and draw the run with them.")
    ] = False,
    carry: Annotated[
        bool, typer.Option("--carry", help="Of a text or series: carry the state from each row to the next.")
    ] = False,
    length: Annotated[
        str | None,
        typer.Option(metavar="N[,N...]", help="Of series that are generated: rows of these lengths, too."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    out: Out = None,
) -> None:
    """Evaluate the weights that the validation rows chose, with the standard error of the metric.

    Examples:

        stablessm evaluate results/raw/mnist-s4d-best.checkpoint --data FOLDER

        stablessm evaluate results/raw/digits-s4d-best.checkpoint --split validation --per-class --json

        stablessm evaluate results/raw/recall_256.checkpoint --length 512,1024
    """
    use_data_folder(data)
    from stablessm.runs import evaluate as evaluated

    found = evaluated(
        checkpoint,
        split=split,  # type: ignore[arg-type]
        device=device,
        baseline=baseline,
        carry=carry,
        lengths=_lengths(length),
    )
    if note:
        _note(found, checkpoint, out)
    scores = found.scores
    if as_json:
        finite = {
            key: value if value < float("inf") else None
            for key, value in scores._asdict().items()
            if key != "per_class"
        }
        classes = dict(zip(found.classes, (one if one <= 1 else None for one in scores.per_class), strict=False))
        document = {
            "schema": 1,
            "name": found.declaration.name,
            "split": found.split,
            "metric_name": found.metric,
            **finite,
            **({"per_class": classes} if classes else {}),
            **({"baseline": found.baseline.metric, "baseline_loss": found.baseline.loss} if found.baseline else {}),
            **({"told": found.told} if found.told else {}),
            **({"trivial": found.trivial[0], "trivial_score": found.trivial[1]} if found.trivial else {}),
            **({"by_length": {n: one.metric for n, one in found.by_length.items()}} if found.by_length else {}),
            "step": found.step,
            "steps": found.steps,
        }
        typer.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    typer.echo(
        f"{found.declaration.name}, {found.split}: {found.metric.replace('_', ' ')} {scores.metric:.4f} +- "
        f"{scores.metric_error:.4f}, loss {scores.loss:.4f} +- {scores.loss_error:.4f} ({scores.rows} rows; weights of "
        f"step {found.step} of {found.steps}, the best on the validation rows)"
    )
    if found.told:
        typer.echo(f"  each step was told {found.told}")
    for steps, one in found.by_length.items():
        typer.echo(
            f"  rows of length {steps}: {found.metric.replace('_', ' ')} {one.metric:.4f} +- {one.metric_error:.4f}, "
            f"loss {one.loss:.4f} ({one.rows} rows)"
        )
    if found.trivial:
        typer.echo(f"  {found.trivial[0]}: {found.metric} {found.trivial[1]:.4f} (test rows)")
    if found.baseline:
        typer.echo(
            f"  counts of {found.counts}: {found.metric.replace('_', ' ')} {found.baseline.metric:.4f} +- "
            f"{found.baseline.metric_error:.4f}, loss {found.baseline.loss:.4f}"
        )
    if per_class:
        for name, share in zip(found.classes, scores.per_class, strict=False):
            typer.echo(f"  {name}: {f'{share:.4f}' if share <= 1 else 'no rows'}")


def _lengths(text: str | None) -> list[int]:
    parts = [] if text is None else [one.strip() for one in text.split(",")]
    if any(not (one.isascii() and one.isdigit()) for one in parts) or len(set(parts)) < len(parts):
        raise typer.BadParameter(f"expected different lengths like 512,1024, but got {text!r}", param_hint="--length")
    return [int(one) for one in parts]


def _note(found: Evaluation, checkpoint: Path, out: str | Path | None) -> None:
    from stablessm.cli.pipeline import writing
    from stablessm.plotting import run
    from stablessm.plotting.saving import drawn, save
    from stablessm.runs.noting import noted
    from stablessm.sweeps.folders import check

    where = check(out)
    with writing():
        dataset = noted(found, checkpoint)
        paths = save(drawn(run.draw, dataset), where.figures, found.declaration.name)
    for path in (checkpoint.with_suffix(".nc"), *paths):
        typer.echo(f"saved {path}", err=True)
