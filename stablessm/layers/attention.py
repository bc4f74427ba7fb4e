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
    """

    keys: Array
    values: Array
    seen: Array


class Attention(Baseline):
    """Every step attends to itself and to the steps before it, to no more than the last `context` of them.

    A series of at most `context` steps is attended to in whole, a longer one through a window that moves along. Scores
    depend on distances in time alone (rotary positions), so that the state holds no positions and does not grow.

    Attributes:
        query: map to the queries of all heads.
        key: map to the keys.
        value: map to the values.
        output: map from the values of all heads.
        rotary: rotation by position.
        heads: number of heads.
        context: steps that are attended to, the own one among them.

    References: Vaswani et al., Attention Is All You Need (NeurIPS 2017); Su et al., RoFormer (2021).
    """

    query: eqx.nn.Linear
    key: eqx.nn.Linear
    value: eqx.nn.Linear
    output: eqx.nn.Linear
    rotary: eqx.nn.RotaryPositionalEmbedding
    heads: int = eqx.field(static=True)
    context: int = eqx.field(static=True)

    def __init__(self, *, inputs: int, heads: int = 1, context: int = 1024, key: Array) -> None:
        """Make a layer.

        Args:
            inputs: number of features in and out.
            heads: number of heads, each of an even number of features.
            context: steps that are attended to.
            key: PRNG key of the weights.

        Raises:
            ValueError: the features do not divide into heads of an even size, or there is no context.

        Example:
            >>> Attention(inputs=4, heads=2, context=8, key=jax.random.key(0))(jnp.ones((5, 4)))[0].shape
            (5, 4)
        """
        if heads < 1 or inputs % (2 * heads):
            raise ValueError(
                f"`inputs` must divide into heads of an even number of features, but got {inputs} features and "
                f"{heads} heads"
            )
        if context < 1:
            raise ValueError(f"`context` must be at least 1, but got {context}")
        self.heads, self.context = heads, context
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
        return Cache(nothing, nothing, jnp.int32(0))

    def step(self, state: Cache, x: Array) -> tuple[Cache, Array]:
        """Advance by one step.

        Args:
            state: the cache.
            x: shape (inputs,).
        """
        y, state = self(x[None], state)
        return state, y[0]

    def __call__(self, x: Array, state: Cache | None = None) -> tuple[Array, Cache]:
        """Run over a series; the memory is that of time x (time + context) scores a head.

        Args:
            x: shape (time, inputs); may be empty.
            state: the cache; the initial one by default.

        Returns:
            (y, state): outputs of shape (time, inputs), and the cache after the last step.
        """
        if not len(x):
            return x, self.initial_state() if state is None else state
        queries, keys, values = (self._by_head(one, x) for one in (self.query, self.key, self.value))
        before = 0
        if state is not None:
            before = len(state.keys)
            keys, values = jnp.concatenate([state.keys, keys]), jnp.concatenate([state.values, values])
        place = jnp.arange(len(keys))
        own = place[before:, None]
        reached = (place <= own) & (place > own - self.context)
        if state is not None:
            reached &= place >= before - state.seen
        rotate = jax.vmap(self.rotary, in_axes=1, out_axes=1)
        turned = rotate(jnp.concatenate([jnp.zeros_like(keys[:before]), queries]))[before:]
        found = jax.nn.dot_product_attention(turned, rotate(keys), values, mask=reached[None])
        return everywhere(self.output, found.reshape(x.shape)), self._cached(keys, values, state, len(x))

    def _by_head(self, linear: eqx.nn.Linear, x: Array) -> Array:
        return everywhere(linear, x).reshape(len(x), self.heads, -1)

    def _cached(self, keys: Array, values: Array, state: Cache | None, steps: int) -> Cache:
        """The last context - 1 keys and values, behind zeros where there are not as many."""
        size = self.context - 1

        def last(rows: Array) -> Array:
            missing = max(size - len(rows), 0)
            return jnp.pad(rows, ((missing, 0), (0, 0), (0, 0)))[len(rows) + missing - size :]

        seen = (0 if state is None else state.seen) + steps
        return Cache(last(keys), last(values), jnp.minimum(jnp.int32(seen), size))
