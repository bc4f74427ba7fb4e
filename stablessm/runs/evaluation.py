"""How well a trained model does on rows it was not trained on, with the error of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from stablessm.data.loading import load
from stablessm.runs.declaration import Declaration, RunError
from stablessm.runs.restoring import restored
from stablessm.tasks.counts import counted
from stablessm.tasks.kneser_ney import kneser_ney_scores
from stablessm.tasks.scores import Scores, carrying_scorer, summary
from stablessm.tasks.task import task_of


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
        counts: what was counted, in words; empty likewise.
        told: what each step was told of, in words; empty where there are no steps to tell.
        trivial: what a simple answer tells, and its metric on the test rows, where one is known.
        by_length: scores on rows of other lengths than those of the training, where they were asked for.
    """

    declaration: Declaration
    split: str
    metric: str
    scores: Scores
    classes: tuple[str, ...]
    step: int
    steps: int
    baseline: Scores | None = None
    counts: str = ""
    told: str = ""
    trivial: tuple[str, float] | None = None
    by_length: Mapping[int, Scores] = field(default_factory=dict)


def evaluate(
    checkpoint: str | Path,
    *,
    data: str | Path | None = None,
    split: Literal["test", "validation"] = "test",
    device: str = "auto",
    baseline: bool = False,
    carry: bool = False,
    lengths: Sequence[int] = (),
) -> Evaluation:
    """Evaluate the best weights of a run, as its validation rows chose them.

    Args:
        checkpoint: file of the run.
        data: folder of data sets; the environment variable STABLESSM_DATA by default.
        split: "test" or "validation".
        device: "auto", "cpu" or "gpu".
        baseline: whether to count, too: of a text pieces of up to seven tokens (`tasks.kneser_ney`), of pixels and
            samples what follows three of them (`tasks.counts`).
        carry: whether the state is carried from each row of a text or series to the next; else a row begins anew, as in
            training.
        lengths: of rows that are generated for this and looked at, too: longer or shorter ones than in training.

    Raises:
        DataError: a length is asked for where nothing is generated, or out of its range.
        TaskError: counts are asked for where there are no tokens, or a state is to be carried between rows that do not
            follow one another.
        CheckpointError: the file is damaged or foreign, or of an architecture or precision that this is not.
        RunError: it cannot be read, or the data are not those it was trained on.
    """
    if split not in ("test", "validation"):
        raise RunError(f"--split must be test or validation, but got {split!r}")
    run, model, step, steps = restored(checkpoint, data=data, device=device)
    with run.on_device():
        score = carrying_scorer(run.task, run.declaration.activations) if carry else run.score
        scores = summary(run.task, split, *score(model, run.rows(split)))
        by_length = {}
        for length in lengths:
            options = run.declaration.options | {"length": length}
            task = task_of(load(run.declaration.data, data, **options), context=run.declaration.context)
            other = replace(run, task=task)
            by_length[length] = summary(task, split, *other.score(model, other.rows(split)))
    told = ""
    if run.task.is_one_series:
        steps_of_row = run.task.splits[split].inputs.shape[1]
        told = "all that stands before it" if carry else f"what stands before it in its row of {steps_of_row} steps"
    counts, words = None, ""
    if baseline and run.task.vocabulary:
        counts, words = kneser_ney_scores(run.task, split), "pieces of up to seven tokens, by Kneser and Ney"
    elif baseline:
        counts, words = counted(run.task, split), "what follows three tokens"
    task = run.task
    return Evaluation(
        run.declaration, split, task.metric, scores, task.classes, step, steps, counts, words, told, task.trivial,
        by_length,
    )  # fmt: skip
