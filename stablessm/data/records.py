"""What loaders return, in shapes that a training loop can take batches of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stablessm.data.content import Source

if TYPE_CHECKING:
    from jax import Array


class Examples(NamedTuple):
    """Rows of a data set.

    Attributes:
        inputs: shape (rows, time, features), uint8 for pixels from 0 to 255; or (rows, time) of tokens, uint8 where
            these are pixels themselves (`Sequences`).
        targets: what is asked of each row, shape (rows, ...).
        lengths: steps of each row that count, shape (rows,); None where all do.
    """

    inputs: Array | np.ndarray
    targets: Array | np.ndarray
    lengths: Array | np.ndarray | None = None


def as_values(inputs: Any) -> Any:
    """Return inputs as a model takes them: pixels scaled to [0, 1], everything else as it is.

    Data sets of pixels stay bytes on the device, a quarter of the memory; a batch of them is scaled.

    Args:
        inputs: those of some rows, NumPy or JAX, traced or not.

    Example:
        >>> as_values(np.array([[[255], [0]]], np.uint8)).ravel().tolist()
        [1.0, 0.0]
    """
    return inputs.astype("float32") / 255 if inputs.dtype == "uint8" else inputs


@dataclass(frozen=True)
class Classification:
    """A set of labelled sequences; targets are int32 in 0 to len(classes) - 1, and every class occurs in training.

    Attributes:
        name: of the set.
        train: rows to train on.
        validation: a part of the published training rows, held out by a seed; never of the test rows.
        test: the published test rows, or where there is no official split rows held out by a seed.
        classes: names of the classes.
        tokens: size of the vocabulary; 0 where inputs are values.
        source: what was read.
        order: where the steps of an image are permuted, which pixel stands at each step; else None.
        draw: row numbers -> training rows, of a task that is generated: `train` is a sample of them, and training takes
            new ones at every step; None where the rows that are there are all.
        change: (training rows, key) -> the same rows changed at random, each in its own way; None where they are not.
        questions: training asks for what follows every token below this, and not for the target of a row alone.
    """

    name: str
    train: Examples
    validation: Examples
    test: Examples
    classes: tuple[str, ...]
    source: Source
    tokens: int = 0
    order: np.ndarray | None = None
    draw: Callable[[Array], Examples] | None = field(default=None, repr=False)
    change: Callable[[Examples, Array], Examples] | None = field(default=None, repr=False)
    questions: int = 0

    @property
    def features(self) -> int:
        """Features of a step; 0 for tokens."""
        return 0 if self.tokens else self.train.inputs.shape[2]


@dataclass(frozen=True)
class Sequences:
    """Rows of tokens that are asked what comes next: pixels of images, levels of recordings; targets are the inputs.

    Attributes:
        name: of the set.
        train: rows to train on, shape (rows, time), with their lengths where these differ.
        validation: a part of the published training rows, held out by a seed.
        test: the published test rows.
        tokens: number of levels.
        source: what was read.
        shape: rows, columns and channels of an image; empty for recordings.
    """

    name: str
    train: Examples
    validation: Examples
    test: Examples
    tokens: int
    source: Source
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Answers:
    """A generated set of series with answers: values that are asked for at the last steps of each.

    Attributes:
        name: of the set.
        train: a sample of the rows to train on; targets of shape (rows, answered steps, values).
        validation: rows of a stream of their own.
        test: likewise.
        source: what was asked for.
        draw: row numbers -> training rows, new ones at every step.
        trivial: what a simple answer tells, and its R2 on the test rows.
    """

    name: str
    train: Examples
    validation: Examples
    test: Examples
    source: Source
    draw: Callable[[Array], Examples] = field(repr=False)
    trivial: tuple[str, float]


@dataclass(frozen=True)
class Language:
    """A text as tokens, in the order it is read: training part, validation, test.

    Attributes:
        name: of the text.
        train: int32, shape (n,).
        validation: shape (m,).
        test: shape (k,).
        vocabulary: what each token stands for, in UTF-8; token 0 is what the training part does not hold.
        characters: how many characters each part has, to turn nats per token into bits per character.
        source: what was read.
        tokenizer: a trained tokenizer as JSON; "" where tokens are characters.
    """

    name: str
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    vocabulary: tuple[bytes, ...]
    characters: tuple[int, int, int]
    source: Source
    tokenizer: str = field(default="", repr=False)

    @property
    def tokens(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    def encode(self, text: str) -> np.ndarray:
        """Return the tokens of a text, int32."""
        if self.tokenizer:
            from stablessm.data.tokens import encoded

            return encoded(self.tokenizer, text)
        number = {piece.decode(): place for place, piece in enumerate(self.vocabulary)}
        return np.array([number.get(one, 0) for one in text], np.int32)

    def decode(self, tokens: Any) -> str:
        """Return the text of tokens."""
        return b"".join(self.vocabulary[token] for token in np.asarray(tokens).tolist()).decode(errors="replace")


@dataclass(frozen=True)
class Series:
    """One long series in the order of time: training part, validation, test.

    Attributes:
        name: of the series.
        train: float32, shape (time, features).
        validation: shape (later, features).
        test: shape (latest, features).
        columns: names of the features.
        source: what was read.
    """

    name: str
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    columns: tuple[str, ...]
    source: Source

    def standardised(self) -> Series:
        """Return the series with mean 0 and deviation 1 in the training part; a constant column becomes 0 there."""
        from dataclasses import replace

        whole = self.train.astype(np.float64)
        mean, deviation = whole.mean(0), whole.std(0)
        scale = np.where(deviation > 0, deviation, 1)
        parts = {name: ((getattr(self, name) - mean) / scale).astype(np.float32) for name in _PARTS}
        return replace(self, **parts)


_PARTS = ("train", "validation", "test")


def windows(part: np.ndarray, length: int, *, stride: int | None = None) -> Examples:
    """Cut tokens or a series into rows of one length, whose targets are the rows themselves.

    A network for language or next values shifts its input on its own: at step k it says what follows the steps before
    k. What is left over at the end, less than a row, is left out.

    Args:
        part: shape (time,) of tokens, or (time, features).
        length: steps of a row, from 1 to time.
        stride: steps between the starts of two rows; `length` by default.

    Raises:
        ValueError: a length or stride out of range.

    Example:
        >>> windows(np.arange(7), 3).inputs.tolist()
        [[0, 1, 2], [3, 4, 5]]
    """
    step = length if stride is None else stride
    if not 1 <= length <= len(part) or step < 1:
        raise ValueError(
            f"`length` must lie from 1 to {len(part)} and `stride` be at least 1, but got {length} and {step}"
        )
    starts = np.arange(0, len(part) - length + 1, step)
    rows = np.asarray(part)[starts[:, None] + np.arange(length)]
    return Examples(rows, rows)
