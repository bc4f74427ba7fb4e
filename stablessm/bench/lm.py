"""Benchmark `lm`: character models of DLR blocks and of attention with feed-forward, of equally many parameters.

A batch holds as many tokens at every length. A decoded token stands behind as many others as its case says: attention
looks at all of them, a DLR at its state. Attention is XLA's (`jax.nn.dot_product_attention`), fused on a GPU alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.bench.base import Case
from stablessm.bench.programs import program
from stablessm.bench.train import step_of
from stablessm.layers import Attention, FeedForward
from stablessm.layers.dlr_starts import fourier
from stablessm.models import Block, Network
from stablessm.parameterizations import PARAMETERIZATIONS

WIDTH, DEPTH, HEADS, VOCABULARY = 128, 2, 4, 96
TOKENS = 8192  # of a batch
DECODED = 16  # tokens of a run
TRAINED, POSITIONS = (256, 1024, 4096), (256, 1024, 4096, 16384)


def transformer(context: int, *, width: int = WIDTH, depth: int = DEPTH, key: Array) -> Network:
    """Return pre-norm blocks of attention over `context` steps and of feed-forward, two for each of `depth`."""
    keys = jax.random.split(key, 4 * depth + 1)
    blocks = []
    for one in keys[:-1].reshape(depth, 4):
        blocks.append(
            Block(Attention(inputs=width, heads=HEADS, context=context, key=one[0]), mixing="none", key=one[1])
        )
        blocks.append(Block(FeedForward(inputs=width, key=one[2]), mixing="none", key=one[3]))
    return Network(blocks, purpose="language", outputs=VOCABULARY, tokens=VOCABULARY, key=keys[-1])


def dlr_model(states: int, *, width: int = WIDTH, depth: int = DEPTH, key: Array) -> Network:
    """Return pre-norm blocks of a DLR of `states` poles with a linear mixing."""
    keys = jax.random.split(key, 2 * depth + 1)
    map_ = PARAMETERIZATIONS["square"]
    blocks = [Block(fourier(map_, states, inputs=width, key=one), mixing="linear", key=two)
              for one, two in zip(keys[:-1:2], keys[1::2], strict=True)]  # fmt: skip
    return Network(blocks, purpose="language", outputs=VOCABULARY, tokens=VOCABULARY, key=keys[-1])


def parameters_of(model: Any) -> int:
    """Return how many numbers are trained."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))


def equal_states(*, width: int = WIDTH, depth: int = DEPTH) -> int:
    """Return the poles a DLR model needs to have as many parameters as the transformer, to half a pole."""
    key = jax.random.key(0)
    target = parameters_of(transformer(2, width=width, depth=depth, key=key))
    one, two = (parameters_of(dlr_model(states, width=width, depth=depth, key=key)) for states in (1, 2))
    return max(1, round(1 + (target - one) / (two - one)))


def cases(quick: bool) -> Iterator[Case]:
    """Yield training steps and decoded tokens at growing lengths.

    Args:
        quick: the two shortest lengths of each, and a quarter of the tokens.
    """
    states, tokens = equal_states(), TOKENS // 4 if quick else TOKENS
    for length in TRAINED[:2] if quick else TRAINED:
        yield _training(states, length, tokens)
    for position in POSITIONS[:2] if quick else POSITIONS:
        yield _decoding(states, position)


def _models(states: int, context: int) -> dict[str, Network]:
    key = jax.random.key(0)
    models = {"attention and feed-forward": transformer(context, key=key), "dlr": dlr_model(states, key=key)}
    return {f"{name}, {parameters_of(model):,} parameters": model for name, model in models.items()}


def _training(states: int, length: int, tokens: int) -> Case:
    batch = tokens // length
    rows = np.random.default_rng(0).integers(0, VOCABULARY, (batch, length)).astype(np.int32)
    candidates = []
    for name, model in _models(states, length).items():
        step, parameters, state = step_of(model)
        candidates.append(program(name, step, (parameters, state, rows, rows), units=tokens))
    return Case(f"training, a token of a batch of {batch}", states, length, candidates)


def _decoding(states: int, position: int) -> Case:
    candidates = []
    for name, model in _models(states, position).items():
        parts, rest = eqx.partition(model, eqx.is_inexact_array)
        state = jax.tree.map(jnp.ones_like, model.initial_state())

        def decode(parts: Any, state: Any, rest: Any = rest) -> Array:
            def one(carry: tuple[Any, Array], _: None) -> tuple[tuple[Any, Array], Array]:
                state, y = eqx.combine(parts, rest).step(*carry)
                return (state, jnp.argmax(y)), y.max()

            return jax.lax.scan(one, (state, jnp.int32(0)), length=DECODED)[1]

        candidates.append(program(name, decode, (parts, state), units=DECODED))
    return Case("decoding, a token behind that many", states, position, candidates)
