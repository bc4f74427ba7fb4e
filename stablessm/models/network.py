"""Networks: an encoder, blocks, and a head for what is asked of a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.layers.everywhere import everywhere
from stablessm.layers.roles import layers_of
from stablessm.models.block import Block
from stablessm.models.norms import LayerNorm, ScalarLayerNorm, layer_norm
from stablessm.models.pooling import pooled_length

Purpose = Literal["classification", "regression", "language", "next_value"]
PURPOSES: dict[str, str] = {
    "classification": "one vector of logits a series, from the mean over its time",
    "regression": "outputs at every step",
    "language": "logits of the next token at every step, from the tokens before it",
    "next_value": "outputs at every step, from the values before it",
}
_GENERATES = ("language", "next_value")


class Network(eqx.Module):
    """y = decoder(norm(blocks(encoder(x)))), pooled over time or not.

    A network that generates sees at step k what came before it: in a full pass its input is shifted right by one, the
    first being 0 (the vector 0, where the input is a token); in `step` it is handed the last value, and nothing is
    shifted. Token 0 is the start, too: where tokens are generated it is the vector 0, whatever its row of the embedding
    holds.

    Attributes:
        encoder: linear map of the features, or embedding of tokens.
        blocks: the blocks, the first one next to the encoder.
        norm: layer norm behind the last block, of its kind, where blocks have theirs in front; None for none.
        decoder: linear map to the outputs.
        purpose: a key of `PURPOSES`.

    References: Gu, Goel and Re, S4 (ICLR 2022), section 3.4.
    """

    encoder: eqx.nn.Linear | eqx.nn.Embedding
    blocks: tuple[Block, ...]
    norm: LayerNorm | None
    decoder: eqx.nn.Linear
    purpose: Purpose = eqx.field(static=True)

    def __init__(
        self, blocks: Sequence[Block], *, purpose: Purpose, outputs: int, inputs: int = 1, tokens: int = 0, key: Array
    ) -> None:
        """Put blocks between an encoder and a head.

        Args:
            blocks: at least one, each as wide as what the one before hands on.
            purpose: a key of `PURPOSES`.
            outputs: number of classes, of tokens or of values.
            inputs: number of features of the series; unused where there are tokens.
            tokens: size of the vocabulary of a series of tokens; 0 for a series of values.
            key: PRNG key of encoder and decoder.

        Raises:
            ValueError: no block, blocks that do not fit one another, an unknown purpose, sizes below 1, a network that
                is to generate what its blocks already see, or to answer at steps that its blocks have pooled.

        Example:
            >>> from stablessm import PARAMETERIZATIONS
            >>> from stablessm.layers import S4D
            >>> layer = S4D(PARAMETERIZATIONS["best"], -jnp.ones(4), inputs=6, key=jax.random.key(0))
            >>> block = Block(layer, key=jax.random.key(1))
            >>> Network([block], purpose="classification", outputs=10, key=jax.random.key(2))(jnp.ones((5, 1)))[0].shape
            (10,)
        """
        self.blocks = tuple(blocks)
        if purpose not in PURPOSES:
            raise ValueError(f"`purpose` must be one of {', '.join(PURPOSES)}, but got {purpose!r}")
        between = [(before.outputs, after.inputs) for before, after in zip(self.blocks, self.blocks[1:], strict=False)]
        if not self.blocks or any(given != taken for given, taken in between):
            raise ValueError(
                "a network needs blocks, each as wide as what the one before hands on, but got "
                f"{[(block.inputs, block.outputs) for block in self.blocks]} features in and out"
            )
        if outputs < 1 or inputs < 1 or tokens < 0:
            raise ValueError(
                f"`outputs` and `inputs` must be at least 1 and `tokens` at least 0, but got {outputs}, {inputs} and "
                f"{tokens}"
            )
        if purpose == "language" and not tokens:
            raise ValueError("a language model needs `tokens`, the size of its vocabulary")
        shorter = [place for place, block in enumerate(self.blocks) if block.pool_steps > 1]
        if purpose != "classification" and shorter:
            raise ValueError(
                f"a network that answers at every step needs them all, but block {shorter[0]} pools them; a classifier "
                "that reads the mean may"
            )
        ahead = [place for place, block in enumerate(self.blocks) if not block.is_causal]
        if purpose in _GENERATES and ahead:
            raise ValueError(f"a network that generates must not look ahead, but block {ahead[0]} does")
        width, wide, (first, last) = self.blocks[0].inputs, self.blocks[-1].outputs, jax.random.split(key)
        self.encoder = eqx.nn.Embedding(tokens, width, key=first) if tokens else eqx.nn.Linear(inputs, width, key=first)
        before = [block.norm for block in self.blocks if block.prenorm and block.norm is not None]
        self.norm = layer_norm(wide, scalar=isinstance(before[-1], ScalarLayerNorm)) if before else None
        self.decoder = eqx.nn.Linear(wide, outputs, key=last)
        self.purpose = purpose

    def _repr_html_(self) -> str:
        """Show the network in a notebook: its parts, the map of each, and how many numbers are trained in it."""
        from stablessm.notebook import table

        rows = [("encoder", type(self.encoder).__name__, "", _trained(self.encoder))]
        for place, block in enumerate(self.blocks):
            maps = {one.parameterization.name for one in layers_of(block) if hasattr(one, "parameterization")}
            rows.append((f"block {place}", type(block.layer).__name__, ", ".join(sorted(maps)), _trained(block)))
        rows += [("decoder", type(self.decoder).__name__, "", _trained(self.decoder))]
        title = f"network for {self.purpose}, {_trained(self)} trained numbers"
        return table(title, ("part", "kind", "map", "trained numbers"), rows)

    @property
    def is_causal(self) -> bool:
        """Whether no block looks ahead."""
        return all(block.is_causal for block in self.blocks)

    @property
    def has_tokens(self) -> bool:
        """Whether a series is one of tokens."""
        return isinstance(self.encoder, eqx.nn.Embedding)

    def initial_state(self) -> tuple[Any, ...]:
        """Return the initial states of the blocks."""
        return tuple(block.initial_state() for block in self.blocks)

    def step(self, state: tuple[Any, ...], x: Array) -> tuple[tuple[Any, ...], Array]:
        """Advance by one step: what follows x, where the network generates.

        Args:
            state: those of the blocks.
            x: shape (inputs,), or one token.

        Returns:
            (state, y): y of shape (outputs,).

        Raises:
            ValueError: the network classifies whole series.
        """
        if self.purpose == "classification":
            raise ValueError("a classifier answers for a whole series, and has no steps")
        y, states = self._encoded(x), []
        for block, own in zip(self.blocks, state, strict=True):
            own, y = block.step(own, y)
            states.append(own)
        return tuple(states), self._decoded(y[None])[0]

    def start(self) -> tuple[tuple[Any, ...], Array]:
        """Return (state, y) before anything has been seen: what a network that generates says of the first step.

        Raises:
            ValueError: the network does not generate.
        """
        if self.purpose not in _GENERATES:
            raise ValueError(f"a network for {self.purpose} does not generate")
        y, states = self._silence(), []
        for block in self.blocks:
            own, y = block.step(block.initial_state(), y)
            states.append(own)
        return tuple(states), self._decoded(y[None])[0]

    def __call__(
        self,
        x: Array,
        state: tuple[Any, ...] | None = None,
        *,
        length: Array | int | None = None,
        key: Array | None = None,
    ) -> tuple[Array, tuple[Any, ...]]:
        """Run over a series.

        Args:
            x: shape (time, inputs), or (time,) of tokens.
            state: of the blocks, before the first step; the initial ones by default. A network that generates and goes
                on from a state has seen the value before x[0] already: use `step`.
            length: number of steps that count in the mean of a classifier, and for blocks that look ahead, the others
                being padding; all by default.
            key: PRNG key of dropout; None for none, as in evaluation.

        Returns:
            (y, state): y of shape (outputs,) for a classifier, else (time, outputs); states after the last step.

        Raises:
            ValueError: a state is handed to a network that generates, or a length to one that neither classifies nor
                looks ahead.
        """
        if state is not None and self.purpose in _GENERATES:
            raise ValueError("a network that generates goes on from a state by `step`: its full pass begins anew")
        if length is not None and self.purpose != "classification" and self.is_causal:
            raise ValueError("`length` is of the mean over time, which a classifier alone takes, or of looking ahead")
        y, states = jax.vmap(self._encoded)(x), []
        if self.purpose in _GENERATES:
            y = jnp.concatenate([self._silence()[None], y[:-1]])[: len(x)]
        keys = [None] * len(self.blocks) if key is None else jax.random.split(key, len(self.blocks))
        for block, own, one in zip(self.blocks, state or (None,) * len(self.blocks), keys, strict=True):
            y, own = block(y, own, length=length, key=one)
            length = pooled_length(length, block.pool_steps)
            states.append(own)
        if self.purpose == "classification":
            return self.decoder(_mean(self._normed(y), length)), tuple(states)
        return self._decoded(y), tuple(states)

    def follow(self, x: Array, before: Array, state: tuple[Any, ...]) -> tuple[Array, tuple[Any, ...]]:
        """Run over what follows a series, where the network generates: its full pass does not begin anew.

        Args:
            x: shape (time, inputs), or (time,) of tokens; at least one step.
            before: the last value or token of what came before, which the state has not seen yet.
            state: that the full pass over what came before has returned, or this.

        Returns:
            (y, state): as the full pass.

        Raises:
            ValueError: the network does not generate.
        """
        if self.purpose not in _GENERATES:
            raise ValueError(f"a network for {self.purpose} does not generate")
        y, states = jax.vmap(self._encoded)(jnp.concatenate([before[None], x[:-1]])), []
        for block, own in zip(self.blocks, state, strict=True):
            y, own = block(y, own)
            states.append(own)
        return self._decoded(y), tuple(states)

    def _encoded(self, x: Array) -> Array:
        y = self.encoder(x)
        return jnp.where(x == 0, 0, y) if self.has_tokens and self.purpose in _GENERATES else y

    def _silence(self) -> Array:
        """What stands before the first step: the vector 0 for tokens, the encoded value 0 else."""
        if self.has_tokens:
            return jnp.zeros(self.encoder.weight.shape[1], self.encoder.weight.dtype)
        return self.encoder(jnp.zeros(self.encoder.in_features, self.encoder.weight.dtype))

    def _normed(self, y: Array) -> Array:
        return y if self.norm is None else jax.vmap(self.norm)(y)

    def _decoded(self, y: Array) -> Array:
        return everywhere(self.decoder, self._normed(y))


def _trained(part: Any) -> int:
    """How many numbers of a part are trained."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(part, eqx.is_inexact_array)))


def _mean(y: Array, length: Array | int | None) -> Array:
    """The mean over the first `length` steps; of no steps it is 0."""
    if length is None:
        return y.sum(0) / max(y.shape[0], 1)
    counts = (jnp.arange(y.shape[0]) < length)[:, None]
    return jnp.where(counts, y, 0).sum(0) / jnp.maximum(length, 1)
