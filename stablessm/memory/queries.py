r"""What is put into a model to query its memory, and its answer, a piece of the series at a time.

| query     | input                                   | answer at step k  | linear model with kernel K   |
|-----------|-----------------------------------------|-------------------|------------------------------|
| heaviside | x from step 0 on                        | abs(y_k - y_{k-1}) | abs(K_k x)                   |
| impulse   | x at step 0, then 0                     | abs(y_k)           | abs(K_k x)                   |
| reversed  | x for `settle` steps, 0 from step 0 on  | abs(y_k - y_{k-1}) | abs((K_k - K_{k+settle}) x)  |

All three are one function of a linear model and three of a nonlinear one: the first asks how a model settles under an
input, the second what a short one leaves behind, the third how a long one is forgotten. What the model puts out at zero
input, as it does with a bias, is subtracted. A series is run through the model in pieces, the state carried from piece
to piece, so that 10^6 steps need the memory of one piece and of the answer.

References: Wang and Li, StableSSM (ICML 2024), Definition 2.1; Wang, Li and Li (ICLR 2024), section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm.memory.probes import Model

PIECE = 4096


class Query(NamedTuple):
    """A query.

    Attributes:
        first: what x is multiplied by at step 0.
        later: what it is multiplied by from step 1 on.
        settles: whether x is held before step 0.
        increments: whether the answer is the increment of the output, or the output.
    """

    first: float
    later: float
    settles: bool
    increments: bool


QUERIES: Mapping[str, Query] = MappingProxyType(
    {
        "heaviside": Query(1.0, 1.0, False, True),
        "impulse": Query(1.0, 0.0, False, False),
        "reversed": Query(0.0, 0.0, True, True),
    }
)


def answer(
    model: Model,
    x: ArrayLike,
    length: int,
    *,
    query: str = "heaviside",
    settle: int | None = None,
    state: Any = None,
    piece: int = PIECE,
) -> Array:
    """Return the answer of a model to a query, shape (length,) or (length, outputs), not normalised by |x|.

    Increments are rounded as y is, so that a decay is seen down to about eps times the sum of the kernel.

    Args:
        model: any model with the layer interface `model(series, state) -> (outputs, state)`.
        x: the input, scalar or shape (inputs,).
        length: number of steps, at least 1.
        query: a key of `QUERIES`.
        settle: how many steps x is held before step 0; by default as long as is looked at afterwards.
        state: state before the first step; None for zero. A nonlinear model with a bias rests in its state after many
            zero inputs (`functions.rest`).
        piece: steps of a piece.

    Raises:
        ValueError: no such query, or a number of steps below 1.

    Example:
        >>> def accumulated(x, state):
        ...     y = jnp.cumsum(x) + (0.0 if state is None else state)
        ...     return y, y[-1]
        >>> answer(accumulated, 2.0, 5, piece=2).tolist()
        [2.0, 2.0, 2.0, 2.0, 2.0]
    """
    if query not in QUERIES:
        raise ValueError(f"`query` must be one of {', '.join(QUERIES)}, but got {query!r}")
    settle = length if settle is None else settle
    for name, value in (("length", length), ("settle", settle), ("piece", piece)):
        if value < 1:
            raise ValueError(f"`{name}` must be at least 1, but got {value}")
    kind, x = QUERIES[query], jnp.asarray(x, jnp.result_type(float))
    held = jnp.stack([x, jnp.zeros_like(x)])
    before = None
    if kind.settles:
        last, state = _run(model, held, settle, (1.0, 1.0), state, piece, last_only=True)
        before = last[0] - last[1]
    outputs, _ = _run(model, held, length, (kind.first, kind.later), state, piece, batched=kind.settles)
    response = outputs[0] - outputs[1]
    if not kind.increments:
        return jnp.abs(response)
    before = jnp.zeros_like(response[0]) if before is None else before
    return jnp.abs(jnp.diff(response, axis=0, prepend=before[None]))


def _run(
    model: Model,
    held: Array,
    length: int,
    factors: tuple[float, float],
    state: Any,
    piece: int,
    *,
    batched: bool = False,
    last_only: bool = False,
) -> tuple[Array, Any]:
    """Run two series, of x and of zeros, side by side; returns their outputs, or the last of them, and their states.

    The first piece takes what is left over, the others are of one length and one program.
    """

    def go(states: Any, factor: Array, *, batched: bool = True) -> tuple[Any, Array]:
        series = factor.reshape(-1, *(1 for _ in held.shape[1:])) * held[:, None]
        y, states = jax.vmap(model, in_axes=(0, 0 if batched else None))(series, states)
        return states, y[:, -1] if last_only else y

    whole, rest = divmod(length - 1, piece)
    first, later = factors
    states, y = go(state, jnp.full(rest + 1, later, held.dtype).at[0].set(first), batched=batched)
    if whole:
        states, more = jax.lax.scan(go, states, jnp.full((whole, piece), later, held.dtype))
        if last_only:
            y = more[-1]
        else:
            more = jnp.moveaxis(more, 0, 1)  # series, pieces, time, ...
            y = jnp.concatenate([y, more.reshape(2, whole * piece, *more.shape[3:])], axis=1)
    return y, states
