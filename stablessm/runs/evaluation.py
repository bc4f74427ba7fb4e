"""How well a trained model does on rows it was not trained on, with the error of that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stablessm.runs.declaration import Declaration, RunError
from stablessm.runs.restoring import restored
from stablessm.tasks.counts import counted
from stablessm.tasks.scores import Scores, summary


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
        baseline: scores of counts of the training rows on the same rows; None where they were not asked for.
    """

    declaration: Declaration
    split: str
    metric: str
    scores: Scores
    classes: tuple[str, ...]
    step: int
    steps: int
    baseline: Scores | None = None


def evaluate(
    checkpoint: str | Path,
    *,
    data: str | Path | None = None,
    split: Literal["test", "validation"] = "test",
    device: str = "auto",
    baseline: bool = False,
) -> Evaluation:
    """Evaluate the best weights of a run, as its validation rows chose them.

    Args:
        checkpoint: file of the run.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        split: "test" or "validation".
        device: "auto", "cpu" or "gpu".
        baseline: whether to count, too, what follows three tokens (`tasks.counts`).

    Raises:
        TaskError: counts are asked for where there are no tokens.
        CheckpointError: the file is damaged or foreign, or of an architecture or precision that this is not.
        RunError: it cannot be read, or the data are not those it was trained on.
    """
    if split not in ("test", "validation"):
        raise RunError(f"--split must be test or validation, but got {split!r}")
    run, model, step, steps = restored(checkpoint, data=data, device=device)
    with run.on_device():
        scores = summary(run.task, split, *run.score(model, run.rows(split)))
    counts = counted(run.task, split) if baseline else None
    return Evaluation(run.declaration, split, run.task.metric, scores, run.task.classes, step, steps, counts)
