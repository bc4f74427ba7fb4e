"""What is scored on the atomic tasks without learning them, so that nobody takes it for learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from stablessm.data.records import Examples

if TYPE_CHECKING:
    from stablessm.data.atomic import Atomic


def r_squared(prediction: np.ndarray, answer: np.ndarray) -> float:
    """Return R2 = 1 - MSE(prediction, answer)/MSE(mean(answer), answer), one mean over everything.

    Args:
        prediction: of the shape of the answer.
        answer: any shape.

    Returns:
        At most 1; NaN where the answer does not vary, which is no score.

    Example:
        >>> r_squared(np.array([1.0, 3.0]), np.array([1.0, 2.0]))
        -1.0
    """
    answer = np.asarray(answer, np.float64)
    spread = float(np.square(answer - answer.mean()).mean())
    return 1 - float(np.square(np.asarray(prediction, np.float64) - answer).mean()) / spread if spread > 0 else np.nan


def trivial_score(task: Atomic, rows: Examples) -> tuple[str, float]:
    """Return (what is told, its R2) of the best simple answer to rows of an atomic task.

    Of shift the series itself, the first of the shifts; of cumsum the plain running sum, scaled as fits best; of cummax
    the mean of each step; of sort the polynomial in the first value that fits best at each step; of mips the running
    mean of the values so far; of the others the mean, whose R2 is 0.

    Args:
        task: which one.
        rows: some of its rows; means and polynomials are fitted to these, so that there must be many of them.
    """
    inputs, answer = np.asarray(rows.inputs, np.float64), np.asarray(rows.targets, np.float64)
    name, guess = _GUESSES.get(task.name, _MEAN)
    return name, r_squared(guess(task, inputs, answer), answer)


def shifts_known(task: Atomic, rows: Examples, known: int) -> float:
    """Return R2 of an answer to shift that has the first of the shifts right and tells the mean of the others."""
    answer = np.asarray(rows.targets, np.float64)
    told = np.where(np.arange(answer.shape[-1]) < known, answer, answer.mean())
    return r_squared(told, answer)


def _first_shift(task: Atomic, inputs: np.ndarray, answer: np.ndarray) -> np.ndarray:
    told = np.zeros_like(answer)
    told[..., 0] = inputs[..., 0]
    return told


def _scaled_sum(task: Atomic, inputs: np.ndarray, answer: np.ndarray) -> np.ndarray:
    plain = np.cumsum(inputs[..., :1], axis=1)
    return plain * (plain * answer).sum() / np.square(plain).sum()


def _mean_of_step(task: Atomic, inputs: np.ndarray, answer: np.ndarray) -> np.ndarray:
    return np.broadcast_to(answer.mean(axis=0), answer.shape)


def _curve_of_step(task: Atomic, inputs: np.ndarray, answer: np.ndarray) -> np.ndarray:
    powers = np.vander(inputs[:, 0, 0], _DEGREE + 1)
    return (powers @ np.linalg.lstsq(powers, answer[..., 0])[0])[..., None]


def _running_mean(task: Atomic, inputs: np.ndarray, answer: np.ndarray) -> np.ndarray:
    value = inputs[..., 2 * task.features : 3 * task.features]
    return np.cumsum(value, axis=1) / np.arange(1, task.length + 1)[:, None]


def _mean(task: Atomic, inputs: np.ndarray, answer: np.ndarray) -> np.ndarray:
    return np.full_like(answer, answer.mean())


_DEGREE = 5  # of the polynomial
_MEAN = ("the mean", _mean)
_GUESSES: Mapping[str, tuple[str, Callable[[Atomic, np.ndarray, np.ndarray], np.ndarray]]] = MappingProxyType(
    {
        "shift": ("the series as its first shift", _first_shift),
        "cumsum": ("the plain sum, scaled", _scaled_sum),
        "cummax": ("the mean of each step", _mean_of_step),
        "sort": ("a polynomial in the first value, one for each step", _curve_of_step),
        "mips": ("the mean of the values so far", _running_mean),
    }
)
