r"""The eleven atomic tasks of DLR: what a sequence-to-sequence map can do, one operation each.

x ~ N(0, 1) over its largest modulus; beside it at every step (cos 2 pi i/T, sin 2 pi i/T), T steps in all. Answers are
read from the last steps.

| task | T | x | answer | |
|---|---|---|---|---|
| shift | L | L | L x C | x_{i - jL/C}, 0 before the start |
| cumsum | L | L | L | sum_{j <= i} x_j / sqrt(i + 1) |
| cummax | L | L | L | max_{j <= i} x_j |
| reverse | 2L | L, then zeros | L | x_{L-1-i} |
| sort | 2L | L, then zeros | L | x, ascending by abs(x_i - x_0) |
| select | L + 2M | L + M, then zeros; marks | M | the marked ones in their order |
| select_fixed | | | | likewise, at positions that are drawn once |
| mips | L | unit q, k, v in R^D | L x D | v_j of the j <= i with the largest <q_i, k_j> |
| context_shift | L | cos and sin of 2 pi s/L, then L - 2 | L | x_{i - s}, 0 before the start |
| solve | L | rows a of an orthonormal A with b = <a, X>, zeros | N | X, of unit length; N^2 + 2N <= L |
| solve_fixed | | | | likewise, with an A that is drawn once |

A row is a function of the seed, the split and its number. Rows are made where they are needed, under jit too.

References: Gupta, Mehta and Berant, Simplifying and Understanding State Space Models with Diagonal Linear RNNs (2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from pydantic import Field, ValidationError, model_validator

from stablessm.data.content import Source
from stablessm.data.recall import Split
from stablessm.data.records import Answers, Examples
from stablessm.data.registry import DataError
from stablessm.data.trivial import trivial_score
from stablessm.declared import Declared

Draw = Callable[["Atomic", Array], tuple[Array, Array]]  # (task, key of a row) -> (x, answer): (steps, features) each
_HIGHEST = jax.lax.Precision.HIGHEST


class Atomic(Declared):
    """One atomic task at its sizes.

    Attributes:
        name: a key of `TASKS`.
        length: L.
        shifts: C of shift, which divides L.
        marked: M of select and select_fixed.
        features: D of mips.
        seed: of all rows, and of what is drawn once.
    """

    name: str
    length: int = Field(256, ge=4, le=2**20)
    shifts: int = Field(8, ge=1, le=1024)
    marked: int = Field(32, ge=1, le=2**16)
    features: int = Field(4, ge=1, le=1024)
    seed: int = Field(0, ge=0, lt=2**32)

    @model_validator(mode="after")
    def _fits(self) -> Atomic:
        if self.name not in TASKS:
            raise ValueError(f"`name` must be one of {', '.join(TASKS)}, but got {self.name!r}")
        if self.name == "shift" and self.length % self.shifts:
            raise ValueError(f"`length` must be a multiple of shifts = {self.shifts}, but got {self.length}")
        return self

    @property
    def steps(self) -> int:
        """T, the steps of the input."""
        behind = {"reverse": self.length, "sort": self.length, "select": 2 * self.marked}
        return self.length + behind.get(self.name.removesuffix("_fixed"), 0)

    @property
    def answered(self) -> int:
        """The steps at the end that are asked for."""
        return {"select": self.marked, "solve": self.unknowns}.get(self.name.removesuffix("_fixed"), self.length)

    @property
    def inputs(self) -> int:
        """Features of a step, the two of its position among them."""
        return 2 + {"select": 2, "mips": 3 * self.features}.get(self.name.removesuffix("_fixed"), 1)

    @property
    def outputs(self) -> int:
        """Features of an answer."""
        return {"shift": self.shifts, "mips": self.features}.get(self.name, 1)

    @property
    def unknowns(self) -> int:
        """N of solve: the largest with N^2 + 2N <= L."""
        return math.isqrt(self.length + 1) - 1


def atomic_rows(task: Atomic, rows: ArrayLike, split: Split = "train") -> Examples:
    """Return rows of an atomic task; under jit, rows may be traced.

    Args:
        task: the task.
        rows: their numbers, int32, shape (batch,).
        split: rows of one split are none of another's.

    Returns:
        Examples: inputs of shape (batch, steps, inputs), targets of shape (batch, answered, outputs).

    Example:
        >>> one = atomic_rows(Atomic(name="shift", length=8, shifts=4), jnp.arange(3))
        >>> one.inputs.shape, one.targets.shape, bool((one.targets[:, 2:, 1] == one.inputs[:, :-2, 0]).all())
        ((3, 8, 3), (3, 8, 4), True)
    """
    key = jax.random.fold_in(jax.random.key(jnp.uint32(task.seed)), get_args(Split).index(split))
    angle = 2 * np.pi * np.arange(task.steps) / task.steps
    position = jnp.asarray(np.stack([np.cos(angle), np.sin(angle)], -1), jnp.float32)

    def one(row: Array) -> tuple[Array, Array]:
        x, answer = TASKS[task.name](task, jax.random.fold_in(key, row))
        padded = jnp.zeros((task.steps, task.inputs - 2), x.dtype).at[: len(x)].set(x)
        return jnp.concatenate([padded, position.astype(x.dtype)], axis=-1), answer

    return Examples(*jax.vmap(one)(jnp.asarray(rows, jnp.int32)))


def load_atomic(
    name: str,
    folder: str | Path | None = None,
    *,
    length: int = 256,
    shifts: int = 8,
    marked: int = 32,
    features: int = 4,
    seed: int = 0,
    validation: int = 128,
    test: int = 256,
) -> Answers:
    """Return an atomic task, its training rows new at every step.

    Args:
        name: a key of `TASKS`.
        folder: nothing is read.
        length: as in `Atomic`, like `shifts`, `marked`, `features` and `seed`.
        shifts: C of shift.
        marked: M of select.
        features: D of mips.
        seed: of all rows.
        validation: rows.
        test: rows.

    Raises:
        DataError: a number out of range.
    """
    for which, count in (("validation", validation), ("test", test)):
        if not isinstance(count, int) or not 2 <= count <= 10**6:
            raise DataError(f"`{which}` must lie from 2 to 1,000,000, but got {count!r}")
    try:
        task = Atomic(name=name, length=length, shifts=shifts, marked=marked, features=features, seed=seed)
    except ValidationError as error:
        first = error.errors()[0]
        told = first["msg"].removeprefix("Value error, ")
        raise DataError(told if not first["loc"] else f"`{first['loc'][0]}`: {told[:1].lower()}{told[1:]}") from None
    counts: dict[Split, int] = {"train": validation, "validation": validation, "test": test}
    splits = [_rows_in_parts(task, count, split) for split, count in counts.items()]
    source = Source(f"generated: {task.model_dump_json()}", "", None)
    return Answers(name, *splits, source, partial(atomic_rows, task), trivial_score(task, splits[-1]))


def _rows_in_parts(task: Atomic, count: int, split: Split) -> Examples:
    """Stored rows, made some at a time."""
    made = jax.jit(partial(atomic_rows, task, split=split))
    size = max(1, min(count, 2**20 // task.steps))
    parts = [made(np.minimum(np.arange(start, start + size), count - 1)) for start in range(0, count, size)]
    return jax.tree.map(lambda *part: np.concatenate(part)[:count], *parts)


def _normalised(key: Array, length: int) -> Array:
    x = jax.random.normal(key, (length,), jnp.float32)
    return x / jnp.abs(x).max()


def _once(task: Atomic, name: str) -> Array:
    """The key of what is drawn once for a whole task."""
    return jax.random.fold_in(jax.random.key(jnp.uint32(task.seed)), {"positions": 3, "matrix": 4}[name])


def _of_series(answer: Callable[[Atomic, Array], Array]) -> Draw:
    """A task whose x is one series of L values."""

    def draw(task: Atomic, key: Array) -> tuple[Array, Array]:
        x = _normalised(key, task.length)
        found = answer(task, x)
        return x[:, None], found if found.ndim == 2 else found[:, None]

    return draw


def _later(x: Array, by: Array | int) -> Array:
    """x moved to later steps, 0 before its start."""
    steps = jnp.arange(len(x))
    return jnp.where(steps >= by, x[jnp.maximum(steps - by, 0)], 0)


def _shift(task: Atomic, x: Array) -> Array:
    return jnp.stack([_later(x, j * (task.length // task.shifts)) for j in range(task.shifts)], axis=-1)


def _cumsum(task: Atomic, x: Array) -> Array:
    return jnp.cumsum(x) / jnp.sqrt(jnp.arange(1, task.length + 1, dtype=x.dtype))


def _select(task: Atomic, key: Array, *, fixed: bool) -> tuple[Array, Array]:
    value_key, place_key = jax.random.split(key)
    length = task.length + task.marked
    x = _normalised(value_key, length)
    chosen = jax.random.permutation(_once(task, "positions") if fixed else place_key, length)[: task.marked]
    marks = jnp.zeros_like(x).at[chosen].set(1)
    return jnp.stack([x, marks], axis=-1), x[jnp.sort(chosen)][:, None]


def _mips(task: Atomic, key: Array) -> tuple[Array, Array]:
    drawn = jax.random.normal(key, (3, task.length, task.features), jnp.float32)
    query, keys, value = drawn / jnp.linalg.norm(drawn, axis=-1, keepdims=True)
    block = min(task.length, 256)  # of queries at a time, so that no L x L table is held
    padded = jnp.pad(query, ((0, -task.length % block), (0, 0))).reshape(-1, block, task.features)

    def best(number: Array, some: Array) -> Array:
        score = jnp.einsum("id,jd->ij", some, keys, precision=_HIGHEST)
        own = number * block + jnp.arange(block)
        return jnp.where(jnp.arange(task.length) <= own[:, None], score, -jnp.inf).argmax(axis=-1)

    chosen = jax.lax.map(lambda one: best(*one), (jnp.arange(len(padded)), padded)).reshape(-1)[: task.length]
    return jnp.concatenate([query, keys, value], axis=-1), value[chosen]


def _context_shift(task: Atomic, key: Array) -> tuple[Array, Array]:
    value_key, shift_key = jax.random.split(key)
    by = jax.random.randint(shift_key, (), 0, task.length - 1)
    angle = 2 * np.pi * by.astype(jnp.float32) / task.length
    x = jnp.concatenate([jnp.stack([jnp.cos(angle), jnp.sin(angle)]), _normalised(value_key, task.length - 2)])
    return x[:, None], _later(x, by)[:, None]


def _solve(task: Atomic, key: Array, *, fixed: bool) -> tuple[Array, Array]:
    matrix_key, unknown_key = jax.random.split(key)
    size = task.unknowns
    matrix = jax.random.orthogonal(_once(task, "matrix") if fixed else matrix_key, size, dtype=jnp.float32)
    unknown = jax.random.normal(unknown_key, (size,), jnp.float32)
    unknown = unknown / jnp.linalg.norm(unknown)
    known = jnp.einsum("ij,j->i", matrix, unknown, precision=_HIGHEST)
    return jnp.concatenate([matrix, known[:, None]], axis=1).reshape(-1, 1), unknown[:, None]


TASKS: Mapping[str, Draw] = MappingProxyType(
    {
        "shift": _of_series(_shift),
        "cumsum": _of_series(_cumsum),
        "cummax": _of_series(lambda _, x: jax.lax.cummax(x)),
        "reverse": _of_series(lambda _, x: x[::-1]),
        "sort": _of_series(lambda _, x: x[jnp.argsort(jnp.abs(x - x[0]), stable=True)]),
        "select": partial(_select, fixed=False),
        "select_fixed": partial(_select, fixed=True),
        "mips": _mips,
        "context_shift": _context_shift,
        "solve": partial(_solve, fixed=False),
        "solve_fixed": partial(_solve, fixed=True),
    }
)
