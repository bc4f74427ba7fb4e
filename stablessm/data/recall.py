r"""Associative recall: pairs of a key and its value, then a marker and a key that occurred; asked is its value.

    k1 v1 k2 v2 ... k_{L/2} v_{L/2} marker k    ->    v(k)

Of V symbols the last two are special, the marker and a blank that never occurs; the first half of the others are keys,
drawn with replacement, the second half values. Which value belongs to which key is drawn anew for each row. A row is a
function of the seed, the split and its number alone, so that a batch is a function of the step and no row is stored.

References: Ba et al., Using fast weights to attend to the recent past (NeurIPS 2016); Fu et al., H3 (ICLR 2023);
Wang and Li, StableSSM (ICML 2024), appendix.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from pydantic import Field, ValidationError, model_validator

from stablessm.data.content import Source
from stablessm.data.records import Classification, Examples
from stablessm.data.registry import DataError
from stablessm.declared import Declared

_SPECIAL = 2
Split = Literal["train", "validation", "test"]


class Recall(Declared):
    """A recall task.

    Attributes:
        length: symbols of the pairs, even; a row has two more.
        vocabulary: symbols in all, even.
        seed: of all rows.
    """

    length: int = Field(256, ge=2, le=131_072)
    vocabulary: int = Field(30, ge=6, le=65_536)
    seed: int = Field(0, ge=0, lt=2**32)

    @model_validator(mode="after")
    def _even(self) -> Recall:
        for name in ("length", "vocabulary"):
            if getattr(self, name) % 2:
                raise ValueError(f"{name} must be even, but got {getattr(self, name)}")
        return self

    @property
    def keys(self) -> int:
        """Number of keys, and of values: keys are 0 to keys - 1, values keys to 2 keys - 1."""
        return (self.vocabulary - _SPECIAL) // 2

    @property
    def marker(self) -> int:
        """The symbol before the key that is asked for."""
        return self.vocabulary - 2


def recall_rows(task: Recall, rows: ArrayLike, split: Split = "train") -> Examples:
    """Return rows of a recall task; under jit, rows may be traced.

    Args:
        task: the task.
        rows: their numbers, int32, shape (batch,).
        split: rows of one split are none of another's.

    Returns:
        Examples: inputs int32 of shape (batch, length + 2); targets the symbol that is asked for, shape (batch,).

    Example:
        >>> one = recall_rows(Recall(length=8, vocabulary=10), jnp.arange(3))
        >>> one.inputs.shape, bool((one.inputs[:, -2] == 8).all()), bool(((one.targets >= 4) & (one.targets < 8)).all())
        ((3, 10), True, True)
    """
    if split not in get_args(Split):
        raise DataError(f"`split` must be one of {', '.join(get_args(Split))}, but got {split!r}")
    place = get_args(Split).index(split)
    return Examples(
        *_rows(task.length, task.keys, task.marker, jnp.uint32(task.seed), place, jnp.asarray(rows, jnp.int32))
    )


@partial(jax.jit, static_argnums=(0, 1, 2))
def _rows(length: int, keys: int, marker: int, seed: Array, split: int, rows: Array) -> tuple[Array, Array]:
    key = jax.random.fold_in(jax.random.key(seed), split)

    def one(row: Array) -> tuple[Array, Array]:
        # One draw of bits serves all; a remainder is even to keys / 2^32, and of one precision always.
        bits = jax.random.bits(jax.random.fold_in(key, row), (length // 2 + 2 * keys,), jnp.uint32)
        shown = (bits[: length // 2] % keys).astype(jnp.int32)
        value_of = keys + (bits[length // 2 : length // 2 + keys] % keys).astype(jnp.int32)
        occurs = jnp.zeros(keys, bool).at[shown].set(True)
        asked = jnp.where(occurs, bits[-keys:] // 2 + 1, 0).argmax().astype(jnp.int32)  # each with equal chance
        pairs = jnp.stack([shown, value_of[shown]], 1).reshape(-1)
        return jnp.concatenate([pairs, jnp.array([marker], jnp.int32), asked[None]]), value_of[asked]

    return jax.vmap(one)(rows)


def load_recall(
    *,
    rows: int = 4000,
    validation: int = 500,
    test: int = 500,
    length: int = 256,
    vocabulary: int = 30,
    seed: int = 0,
    anew: bool = True,
    asked: Literal["last", "every"] = "last",
) -> Classification:
    """Return a recall task; classes are the symbols, so that an answer is a symbol.

    Args:
        rows: training rows that are stored.
        validation: rows.
        test: rows.
        length: as in `Recall`.
        vocabulary: as in `Recall`.
        seed: as in `Recall`.
        anew: whether training takes new rows at every step, so that nothing can be learned by heart; the stored ones
            else.
        asked: what training asks for: the value of the "last" key, as validation and test do, or of "every" key as it
            comes, each of which has its value behind it.

    Raises:
        DataError: a number out of range, or a choice that is none.
    """
    if asked not in ("last", "every"):
        raise DataError(f"`asked` must be last or every, but got {asked!r}")
    if not isinstance(anew, bool):
        raise DataError(f"`anew` must be true or false, but got {anew!r}")
    for name, count in (("rows", rows), ("validation", validation), ("test", test)):
        if not 1 <= count <= 10**7:
            raise DataError(f"`{name}` must lie from 1 to 10,000,000, but got {count}")
    task = recall(length=length, vocabulary=vocabulary, seed=seed)
    counts: dict[Split, int] = {"train": rows, "validation": validation, "test": test}
    splits = [recall_rows(task, jnp.arange(count), split) for split, count in counts.items()]
    source = Source(f"generated: {task.model_dump_json()}", "", None)
    return Classification("recall", *splits, tuple(map(str, range(vocabulary))), source, tokens=vocabulary,
                          draw=partial(recall_rows, task) if anew else None,
                          questions=task.keys if asked == "every" else 0)  # fmt: skip


def recall(*, length: int = 256, vocabulary: int = 30, seed: int = 0) -> Recall:
    """Return a task, or say what is wrong with it.

    Args:
        length: as in `Recall`.
        vocabulary: as in `Recall`.
        seed: as in `Recall`.

    Raises:
        DataError: a number out of range, or odd.
    """
    try:
        return Recall(length=length, vocabulary=vocabulary, seed=seed)
    except ValidationError as error:
        first = error.errors()[0]
        place, told = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        raise DataError(f"{place} of the recall task: {told}, but got {first['input']}" if place else told) from None
