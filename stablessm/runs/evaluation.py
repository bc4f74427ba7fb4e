"""How well a trained model does on rows it was not trained on, with the error of that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax

from stablessm.runs.declaration import Declaration, RunError
from stablessm.runs.record import empty
from stablessm.runs.setup import ready
from stablessm.tasks.scores import Scores, summary
from stablessm.training import checkpoints


@dataclass(frozen=True)
class Evaluation:
    """Scores of a checkpoint.

    Attributes:
        declaration: of its run.
        split: whose rows were looked at.
        metric: name of the metric.
        scores: what came out.
        classes: names, in the order of `scores.per_class`.
        step: steps before the weights that were taken, those of the best look at the validation rows.
        steps: steps that were taken in all.
    """

    declaration: Declaration
    split: str
    metric: str
    scores: Scores
    classes: tuple[str, ...]
    step: int
    steps: int


def evaluate(
    checkpoint: str | Path,
    *,
    data: str | Path | None = None,
    split: Literal["test", "validation"] = "test",
    device: str = "auto",
) -> Evaluation:
    """Evaluate the best weights of a run, as its validation rows chose them.

    Args:
        checkpoint: file of the run.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        split: "test" or "validation".
        device: "auto", "cpu" or "gpu".

    Raises:
        CheckpointError: the file is damaged or foreign, or of an architecture or precision that this is not.
        RunError: it cannot be read, or the data are not those it was trained on.
    """
    path = Path(checkpoint)
    if split not in ("test", "validation"):
        raise RunError(f"--split must be test or validation, but got {split!r}")
    try:
        made_of = checkpoints.made_of(path)
    except OSError as error:
        raise RunError(f"the checkpoint '{path}' cannot be read: {error.strerror or error}") from None
    try:
        declaration = Declaration(**made_of["declaration"])
    except (KeyError, TypeError, ValueError):
        raise checkpoints.CheckpointError(f"the checkpoint {path} is of no training run that is known here") from None
    run = ready(declaration, data=data, device=device)
    if made_of.get("data") != run.made_of["data"]:
        raise RunError(
            f"the checkpoint '{path}' was trained on other files of {declaration.data!r} than those in "
            f"'{run.task.source.place}'"
        )
    with run.on_device():
        like = empty(run.training.start, declaration, run.layers)
        record = checkpoints.load(path, like, run.made_of)
        model = run.training.model(record.state._replace(parameters=jax.tree.map(jax.numpy.asarray, record.best)))
        scores = summary(run.task, split, *run.score(model, run.rows(split)))
    return Evaluation(
        declaration, split, run.task.metric, scores, run.task.classes, int(record.best_step), int(record.state.step)
    )
