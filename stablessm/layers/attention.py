"""Causal multi-head attention with rotary positions, its keys and values as its state."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers.baselines import Baseline
from stablessm.layers.everywhere import everywhere


class Cache(NamedTuple):
    """What attention remembers.

    Attributes:
        keys: of the last steps, not yet rotated, shape (context, heads, features of a head); the latest one last.
        values: of the same steps, of the same shape.
        seen: how many of them there are; an int32 scalar.
        place: of the next step in its chunk, where there are chunks; an int32 scalar.
    """

    keys: Array
    values: Array
    seen: Array
    place: Array


class Attention(Baseline):
    """Every step attends to itself and to the steps before it, to no more than the last `context` of them.

    A series of at most `context` steps is attended to in whole, a longer one through a window that moves along, a block
    of `context` steps at a time: the memory grows with the length and not with its square. Scores depend on distances
    in time alone (rotary positions), so that the state holds no positions and does not grow.

    With a `chunk` the window does not move along with every step: a step attends to those before it in its own chunk
    of the series and in the chunk before (local attention).

    Attributes:
        query: map to the queries of all heads.
        key: map to the keys.
        value: map to the values.
        output: map from the values of all heads.
        rotary: rotation by position.
        heads: number of heads.
        context: most steps that are attended to, the own one among them.
        chunk: steps of a chunk; 0 where the window moves along.

    References: Vaswani et al., Attention Is All You Need (NeurIPS 2017); Su et al., RoFormer (2021).
    """

    query: eqx.nn.Linear
    key: eqx.nn.Linear
    value: eqx.nn.Linear
    output: eqx.nn.Linear
    rotary: eqx.nn.RotaryPositionalEmbedding
    heads: int = eqx.field(static=True)
    context: int = eqx.field(static=True)
    chunk: int = eqx.field(static=True)

    def __init__(self, *, inputs: int, heads: int = 1, context: int | None = None, chunk: int = 0, key: Array) -> None:
        """Make a layer.

        Args:
            inputs: number of features in and out.
            heads: number of heads, each of an even number of features.
            context: steps that are attended to; 1024, or two chunks.
            chunk: steps of a chunk, own and previous one are attended to; 0 for a window that moves along.
            key: PRNG key of the weights.

        Raises:
            ValueError: the features do not divide into heads of an even size, or a context is none or beside a chunk.

        Example:
            >>> Attention(inputs=4, heads=2, context=8, key=jax.random.key(0))(jnp.ones((5, 4)))[0].shape
            (5, 4)
        """
        if heads < 1 or inputs % (2 * heads):
            raise ValueError(
                f"`inputs` must divide into heads of an even number of features, but got {inputs} features and "
                f"{heads} heads"
            )
        if not isinstance(chunk, int) or chunk < 0:
            raise ValueError(f"`chunk` must be a number of steps, or 0 for none, but got {chunk!r}")
        if context is not None and (chunk or context < 1):
            told = "goes with no `chunk`" if chunk else "must be at least 1"
            raise ValueError(f"`context` {told}, but got {context}")
        self.heads, self.chunk = heads, chunk
        self.context = 2 * chunk or (1024 if context is None else context)
        self.query, self.key, self.value, self.output = (
            eqx.nn.Linear(inputs, inputs, use_bias=False, key=one) for one in jax.random.split(key, 4)
        )
        self.rotary = eqx.nn.RotaryPositionalEmbedding(inputs // heads)

    @property
    def inputs(self) -> int:
        """Number of features."""
        return self.query.in_features

    def initial_state(self) -> Cache:
        """Return the cache of nothing."""
        shape = self.context - 1, self.heads, self.inputs // self.heads
        nothing = jnp.zeros(shape, self.query.weight.dtype)
        return Cache(nothing, nothing, jnp.int32(0), jnp.int32(0))

    def step(self, state: Cache, x: Array) -> tuple[Cache, Array]:
        """Advance by one step.

        Args:
            state: the cache.
            x: shape (inputs,).
        """
        y, state = self(x[None], state)
        return state, y[0]

    def __call__(self, x: Array, state: Cache | None = None) -> tuple[Array, Cache]:
        """Run over a series; the memory is that of time x 2 context scores a head.

        Args:
            x: shape (time, inputs); may be empty.
            state: the cache; the initial one by default.

        Returns:
            (y, state): outputs of shape (time, inputs), and the cache after the last step.
        """
        if not len(x):
            return x, self.initial_state() if state is None else state
        queries, keys, values = (self._by_head(one, x) for one in (self.query, self.key, self.value))
        cache, block = self.initial_state() if state is None else state, min(len(x), self.context)
        before = 0 if state is None and block == len(x) else self.context - 1  # steps of the cache that stand in front
        behind = ((0, -len(x) % block), (0, 0), (0, 0))
        every = [
            jnp.pad(jnp.concatenate([old[len(old) - before :], new]), behind)
            for old, new in ((cache.keys, keys), (cache.values, values))
        ]
        rotate = jax.vmap(self.rotary, in_axes=1, out_axes=1)

        def found(first: Array, some: Array) -> Array:
            """What the queries of a block find in it and in what stands before it."""
            near = [jax.lax.dynamic_slice_in_dim(part, first, before + block) for part in every]
            turned = rotate(jnp.pad(some, ((before, 0), (0, 0), (0, 0))))[before:]
            reached = self._reached(before, block, first, cache)
            return jax.nn.dot_product_attention(turned, rotate(near[0]), near[1], mask=reached[None])

        blocks = jnp.pad(queries, behind).reshape(-1, block, *queries.shape[1:])
        y = jax.vmap(found)(block * jnp.arange(len(blocks)), blocks).reshape(-1, x.shape[1])[: len(x)]
        return everywhere(self.output, y), self._cached(keys, values, cache, len(x))

    def _reached(self, before: int, block: int, first: Array, cache: Cache) -> Array:
        """Which steps the queries of a block see, shape (block, before + block), given where it begins."""
        key, own = jnp.arange(before + block), before + jnp.arange(block)[:, None]
        seen = (key <= own) & (key > own - self.context) & (first + key >= before - cache.seen)
        if not self.chunk:
            return seen
        start = first - before + cache.place
        return seen & ((start + key) // self.chunk >= (start + own) // self.chunk - 1)

    def _by_head(self, linear: eqx.nn.Linear, x: Array) -> Array:
        return everywhere(linear, x).reshape(len(x), self.heads, -1)

    def _cached(self, keys: Array, values: Array, cache: Cache, steps: int) -> Cache:
        """The last context - 1 keys and values."""
        size = self.context - 1
        last = [jnp.concatenate([old, new])[steps:] for old, new in ((cache.keys, keys), (cache.values, values))]
        place = (cache.place + steps) % self.chunk if self.chunk else cache.place
        return Cache(*last, jnp.minimum(cache.seen + steps, size).astype(jnp.int32), place.astype(jnp.int32))
