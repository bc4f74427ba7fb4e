r"""The supremum of a memory function over its inputs: scanned over sizes and signs, then climbed.

M(H)(t) = sup_{x != 0} |answer at t| / (|x|_inf + 1) asks for the best input at every time. A linear model is best
queried by a large one; under a bounded activation the best size depends on the time, and with several inputs so do
their proportions. Each input tried gives a lower estimate at all times, and the largest of all is kept. The search
starts at the best scanned input of some times and climbs in the logarithms of its entries, whose signs stay.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from stablessm.memory.probes import Model
from stablessm.memory.queries import PIECE, answer

SIZES = tuple(sign * 4.0**power for power in range(-5, 11) for sign in (-1, 1))
PLACES = 24
_RATE, _FALL = 0.3, 0.01  # of Adam in the logarithms of the entries: from a third of an e-fold to a hundredth of it
_SMALL, _LARGE = 4.0**-8, 4.0**12


def memory_function(
    model: Model,
    length: int,
    *,
    query: str = "heaviside",
    settle: int | None = None,
    inputs: ArrayLike | None = None,
    climbs: int = 0,
    apart: bool = False,
    state: Any = None,
    piece: int = PIECE,
) -> Array:
    """Return M(H)(k) for k < length, the supremum taken over the inputs that are tried, shape (length,).

    This is a lower estimate. By default the inputs are +-4^i, i = -5 .. 10, for a scalar series: for a linear model
    |K_k| is then reached to one part in a million, and for a bounded activation the middle sizes count.

    Args:
        model: any model with the layer interface.
        length: number of steps.
        query: a key of `QUERIES`.
        settle: as for `queries.answer`.
        inputs: constant inputs to try, shape (tries,) or (tries, inputs).
        climbs: steps of the search that follows; 0 for none. It looks at no more than the first piece of the series.
        apart: whether each output has its own supremum, shape (length, outputs); else the largest output counts.
        state: as for `queries.answer`.
        piece: steps that are run at once.

    Example:
        >>> def saturating(x, state):  # y_k = tanh(x_k)
        ...     return jnp.tanh(x), state
        >>> found = memory_function(saturating, 2, climbs=60)
        >>> bool(abs(found[0] - jnp.max(jnp.tanh(jnp.arange(0, 9, 1e-3)) / (jnp.arange(0, 9, 1e-3) + 1))) < 1e-6)
        True
    """
    asked = {"query": query, "settle": settle, "state": state, "piece": piece}
    tried = jnp.asarray(SIZES if inputs is None else inputs, jnp.result_type(float))
    found = _largest(model, tried, length, asked)
    if climbs:
        seen = min(length, piece)
        better = _climbed(model, tried, seen, climbs, {**asked, "settle": min(seen, settle or length)})
        found = jnp.maximum(found, _largest(model, better, length, asked))
    return found if apart else found.reshape(length, -1).max(-1)


def _gain(model: Model, x: Array, length: int, asked: dict[str, Any]) -> Array:
    return answer(model, x, length, **asked) / (jnp.abs(x).max() + 1)


def _largest(model: Model, tried: Array, length: int, asked: dict[str, Any]) -> Array:
    """The largest gain at each time and output; as many inputs at once as make up a piece."""
    together = min(len(tried), max(1, asked["piece"] // length))
    padded = jnp.concatenate([tried, jnp.repeat(tried[:1], -len(tried) % together, axis=0)])

    def of(batch: Array) -> Array:
        return jax.vmap(lambda x: _gain(model, x, length, asked))(batch).max(0)

    batches = padded.reshape(-1, together, *tried.shape[1:])
    first = of(batches[0])
    return jax.lax.scan(lambda most, batch: (jnp.maximum(most, of(batch)), None), first, batches[1:])[0]


def _climbed(model: Model, tried: Array, length: int, climbs: int, asked: dict[str, Any]) -> Array:
    """Inputs that are better at some times, log-spaced, for each output, and geometric means of neighbouring ones."""
    gains = jax.vmap(lambda x: _gain(model, x, length, asked).reshape(length, -1))(tried)
    places = np.unique(np.geomspace(1, length, min(length, PLACES)).astype(int)) - 1
    where = [(place, output) for place in places for output in range(gains.shape[-1])]
    time, output = (jnp.asarray(part) for part in zip(*where, strict=True))
    starts = tried[gains[:, time, output].argmax(0)]
    schedule = optax.exponential_decay(_RATE, climbs, _FALL)
    optimizer = optax.adam(schedule)

    def climb(start: Array, time: Array, output: Array) -> Array:
        signs = jnp.sign(start)

        def height(logs: Array) -> Array:
            gain = _gain(model, signs * jnp.exp(logs), length, asked).reshape(length, -1)[time, output]
            return jnp.log(jnp.maximum(gain, jnp.finfo(gain.dtype).tiny))

        def step(carry: tuple[Array, Any, Array, Array], _: None) -> tuple[tuple[Array, Any, Array, Array], None]:
            logs, memory, best, highest = carry
            value, slope = jax.value_and_grad(height)(logs)
            best, highest = jnp.where(value > highest, logs, best), jnp.maximum(value, highest)
            update, memory = optimizer.update(-jnp.nan_to_num(slope), memory)
            return (jnp.clip(logs + update, jnp.log(_SMALL), jnp.log(_LARGE)), memory, best, highest), None

        logs = jnp.log(jnp.maximum(jnp.abs(start), _SMALL))
        begun = logs, optimizer.init(logs), logs, jnp.asarray(-jnp.inf, logs.dtype)
        return signs * jnp.exp(jax.lax.scan(step, begun, None, length=climbs)[0][2])

    found = jax.lax.map(lambda one: climb(*one), (starts, time, output))
    by_time = found.reshape(len(places), -1, *found.shape[1:])
    between = jnp.sign(by_time[1:]) * jnp.sqrt(jnp.abs(by_time[1:] * by_time[:-1]))
    return jnp.concatenate([found, between.reshape(-1, *found.shape[1:])])
