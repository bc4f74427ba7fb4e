r"""A data set with a question: what a network is asked about it, and how its answers are scored.

| data | question | loss | metric |
|---|---|---|---|
| labelled series | its class | cross-entropy | accuracy |
| recall | the value of the key that stands last | cross-entropy | accuracy |
| text | what follows, at every step | cross-entropy | bits per character |
| pixels, samples of sound as tokens | the next one, at every step | cross-entropy | bits per dimension |
| an atomic task | its answer, at the last steps | mean squared error | R2 |
| one long series | the next value, at every step | mean squared error | mean squared error |

Bits per character are nats per token, times tokens per character, over ln 2; bits per dimension those per pixel or
sample, the mean over rows of the mean over the steps of each that count. Rows of texts and series begin anew: the
first steps of a row are told without what stands before it, unless the state is carried from row to row
(`scores.carrying_scorer`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from stablessm.data.content import Source
from stablessm.data.records import Answers, Classification, Examples, Language, Sequences, Series, windows

if TYPE_CHECKING:
    from jax import Array

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
METRICS: Mapping[str, str] = {  # of each purpose
    "classification": "accuracy",
    "language": "bits_per_character",
    "next_value": "mean_squared_error",
    "regression": "r2",
}


class TaskError(ValueError):
    """Data that cannot be trained on or evaluated; the message says why."""


@dataclass(frozen=True)
class Task:
    """A data set with a question.

    Attributes:
        name: of the data set.
        purpose: what is asked, a key of `METRICS`.
        splits: the rows of "train", "validation" and "test".
        inputs: features of a step; 0 where there are tokens.
        tokens: size of the vocabulary; 0 for values.
        outputs: number of classes, tokens or values.
        zero_loss: loss on the training rows of the best answer that does not look at the series.
        per_token: characters per token in each split; 1 where that means nothing.
        spread: variance of all answers of each split, where the metric is R2.
        trivial: what a simple answer tells, and its R2 on the test rows, where the metric is R2.
        classes: their names, where there are classes.
        asks_at_the_end: whether the last step says what is asked.
        shape: rows, columns and channels of an image whose pixels are tokens; empty where there is none.
        symbol: what a token is, in the name of the metric of a language: a "character", or a "dimension".
        vocabulary: what each token of a text stands for, in UTF-8.
        source: what was read.
        draw: row numbers -> training rows, where there are new ones for every step.
        change: (training rows, key) -> the same rows changed at random.
        questions: training asks for what follows every token below this.
    """

    name: str
    purpose: Literal["classification", "language", "next_value", "regression"]
    splits: Mapping[Split, Examples]
    inputs: int
    tokens: int
    outputs: int
    zero_loss: float
    per_token: Mapping[Split, float]
    source: Source
    spread: Mapping[Split, float] = field(default_factory=dict)
    trivial: tuple[str, float] | None = None
    classes: tuple[str, ...] = ()
    asks_at_the_end: bool = False
    shape: tuple[int, ...] = ()
    symbol: Literal["character", "dimension"] = "character"
    vocabulary: tuple[bytes, ...] = ()
    draw: Callable[[Array], Examples] | None = field(default=None, repr=False)
    change: Callable[[Examples, Array], Examples] | None = field(default=None, repr=False)
    questions: int = 0

    @property
    def is_one_series(self) -> bool:
        """Whether the rows of a split follow one another in one text or series."""
        return self.purpose == "next_value" or (self.purpose == "language" and self.symbol == "character")

    @property
    def metric(self) -> str:
        """The metric that is reported."""
        return f"bits_per_{self.symbol}" if self.purpose == "language" else METRICS[self.purpose]

    @property
    def more_is_better(self) -> bool:
        """Whether a larger value of the metric is the better one."""
        return self.metric in ("accuracy", "r2")

    def of_loss(self, split: Split) -> tuple[float, float]:
        """Return (offset, factor): the metric is offset + factor x mean loss, where there are no classes."""
        if self.purpose == "language":
            return 0.0, 1 / (np.log(2) * self.per_token[split])
        return (1.0, -1 / self.spread[split]) if self.purpose == "regression" else (0.0, 1.0)


def task_of(record: Classification | Sequences | Answers | Language | Series, *, context: int) -> Task:
    """Return the task on a data set.

    Args:
        record: what `stablessm.data.load` returned.
        context: steps of a row of a text or a long series.

    Raises:
        TaskError: rows that do not fit one another: none of them, labels out of range, other lengths or features than
            in training, or a part of a text that is shorter than a row.
    """
    if isinstance(record, Classification):
        splits = {name: getattr(record, name) for name in SPLITS}
        for name, part in splits.items():
            _refuse_unfit(record.name, name, part, splits["train"], len(record.classes))
        counts = np.bincount(splits["train"].targets, minlength=len(record.classes))
        missing = [record.classes[place] for place in np.flatnonzero(counts == 0)]
        if missing and record.name != "recall":
            raise TaskError(f"{record.name}: the classes {', '.join(missing)} have no rows in training")
        return Task(
            record.name,
            "classification",
            splits,
            record.features,
            record.tokens,
            len(record.classes),
            _entropy(counts),
            dict.fromkeys(SPLITS, 1.0),
            record.source,
            classes=record.classes,
            asks_at_the_end=record.name == "recall",
            draw=record.draw,
            change=record.change,
            questions=record.questions,
        )
    if isinstance(record, Sequences):
        splits = {name: getattr(record, name) for name in SPLITS}
        for name, part in splits.items():
            _refuse_ragged(record.name, name, part)
        counts = np.bincount(_counted(splits["train"]), minlength=record.tokens)
        return Task(
            record.name, "language", splits, 0, record.tokens, record.tokens, _entropy(counts),
            dict.fromkeys(SPLITS, 1.0), record.source, shape=record.shape, symbol="dimension",
        )  # fmt: skip
    if isinstance(record, Answers):
        splits = {name: getattr(record, name) for name in SPLITS}
        spread = {name: float(np.var(part.targets, dtype=np.float64)) for name, part in splits.items()}
        return Task(
            record.name, "regression", splits, record.train.inputs.shape[-1], 0, record.train.targets.shape[-1],
            spread["train"], dict.fromkeys(SPLITS, 1.0), record.source, spread, record.trivial, draw=record.draw,
        )  # fmt: skip
    if isinstance(record, Series):
        record = record.standardised()
    splits = {}
    for name in SPLITS:
        part = getattr(record, name)
        if len(part) < context:
            raise TaskError(
                f"{record.name}: `context` must be at most {len(part)}, the steps of the {name} part, but got {context}"
            )
        splits[name] = windows(part, context)
    if isinstance(record, Language):
        lengths = [len(getattr(record, name)) for name in SPLITS]
        per_token = {name: c / n for name, c, n in zip(SPLITS, record.characters, lengths, strict=True)}
        zero = _entropy(np.bincount(record.train, minlength=record.tokens))
        return Task(
            record.name, "language", splits, 0, record.tokens, record.tokens, zero, per_token, record.source,
            vocabulary=record.vocabulary,
        )  # fmt: skip
    features = len(record.columns)
    zero = float(np.square(splits["train"].inputs.astype(np.float64)).mean())
    return Task(
        record.name, "next_value", splits, features, 0, features, zero, dict.fromkeys(SPLITS, 1.0), record.source
    )


def _refuse_unfit(name: str, split: str, part: Examples, train: Examples, classes: int) -> None:
    """Refuse rows that a model of the training rows would answer wrongly, or not at all."""
    _refuse_ragged(name, split, part)
    labels = np.asarray(part.targets)
    if labels.min() < 0 or labels.max() >= classes:
        raise TaskError(
            f"{name}, {split}: labels must lie from 0 to {classes - 1}, but go from {labels.min()} to {labels.max()}"
        )
    if part.inputs.ndim != train.inputs.ndim or part.inputs.shape[2:] != train.inputs.shape[2:]:
        raise TaskError(
            f"{name}, {split}: a step must have the features of training, {train.inputs.shape[2:]}, but has "
            f"{part.inputs.shape[2:]}"
        )
    if part.lengths is None and part.inputs.shape[1] != train.inputs.shape[1]:
        raise TaskError(
            f"{name}, {split}: rows must have the {train.inputs.shape[1]} steps of training, but have "
            f"{part.inputs.shape[1]}"
        )


def _refuse_ragged(name: str, split: str, part: Examples) -> None:
    """Refuse rows whose parts do not fit one another."""
    from stablessm.training.batches import checked

    try:
        checked(part)
    except ValueError as error:
        raise TaskError(f"{name}, {split}: {error}") from None


def _counted(part: Examples) -> np.ndarray:
    """Return all tokens that count, in one row."""
    inputs = np.asarray(part.inputs)
    if part.lengths is None:
        return inputs.ravel()
    return inputs[np.arange(inputs.shape[1]) < np.asarray(part.lengths)[:, None]]


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
