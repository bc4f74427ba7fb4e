"""Drawing what a network says comes next, one step at a time: the recurrent mode, its state carried from call to call.

Each row has a key of its own, and each step of a row the key of its number: what is drawn depends on neither how many
rows there are nor where a run was left and taken up again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from stablessm.models.network import Network


class Drawing(NamedTuple):
    """How far some rows are: all that is needed to go on, and what `training.checkpoints.save` takes.

    Attributes:
        state: of the blocks, a leading axis for the rows.
        logits: what the network says of the next step, shape (rows, tokens).
        key: data of the PRNG key of each row, shape (rows, ...).
        step: steps that are behind, int32.
    """

    state: Any
    logits: Array
    key: Array
    step: Array


def primed(network: Network, prefix: Array, *, key: Array) -> Drawing:
    """Return where rows stand that begin with given tokens; state and key are those of no one else.

    Args:
        network: for language.
        prefix: shape (rows, steps); no step at all is a start from nothing.
        key: PRNG key, of which each row gets its own.

    Raises:
        ValueError: a network that is not asked for tokens.
    """
    if network.purpose != "language":
        raise ValueError(f"tokens are drawn from a network for language, but this one is for {network.purpose}")
    rows, steps = prefix.shape
    keys = jax.vmap(lambda row: jax.random.key_data(jax.random.fold_in(key, row)))(jnp.arange(rows))

    def one(given: Array) -> tuple[Any, Array]:
        def seen(carry: tuple[Any, Array], token: Array) -> tuple[tuple[Any, Array], None]:
            return network.step(carry[0], token), None

        return jax.lax.scan(seen, network.start(), given)[0]

    state, logits = jax.vmap(one)(prefix.astype(jnp.int32))
    return Drawing(state, logits, keys, jnp.int32(steps))


def drawn(
    network: Network, drawing: Drawing, steps: int, *, temperature: float | Array = 1.0, top: int = 0
) -> tuple[Drawing, Array]:
    """Draw tokens; return where the rows stand then, and the tokens, int32 of shape (rows, steps).

    Args:
        network: the one that was primed.
        drawing: where the rows stand.
        steps: how many tokens of each row, at least 0.
        temperature: the logits are divided by it; small is certain, 1 is as trained.
        top: draw among the most likely ones only; 0 for all of them.

    Raises:
        ValueError: a negative number, or more of the most likely tokens than there are.

    Example:
        >>> from stablessm import PARAMETERIZATIONS
        >>> from stablessm.layers import S4D
        >>> from stablessm.models import Block
        >>> layer = S4D(PARAMETERIZATIONS["best"], -jnp.ones(4), inputs=6, key=jax.random.key(0))
        >>> network = Network([Block(layer, key=jax.random.key(1))], purpose="language", outputs=5, tokens=5,
        ...                   key=jax.random.key(2))
        >>> before = primed(network, jnp.array([[1, 2, 3], [3, 2, 1]]), key=jax.random.key(3))
        >>> drawn(network, before, 4)[1].shape
        (2, 4)
    """
    tokens = drawing.logits.shape[-1]
    if steps < 0 or not 0 <= top <= tokens:
        raise ValueError(f"`steps` must be at least 0 and `top` from 0 to {tokens}, but got {steps} and {top}")

    def one(state: Any, logits: Array, key: Array) -> tuple[tuple[Any, Array], Array]:
        row_key = jax.random.wrap_key_data(key)

        def step(carry: tuple[Any, Array], place: Array) -> tuple[tuple[Any, Array], Array]:
            state, logits = carry
            token = _chosen(logits, jax.random.fold_in(row_key, place), temperature, top)
            return network.step(state, token), token

        return jax.lax.scan(step, (state, logits), drawing.step + jnp.arange(steps))

    (state, logits), found = jax.vmap(one)(drawing.state, drawing.logits, drawing.key)
    return Drawing(state, logits, drawing.key, drawing.step + steps), found


@eqx.filter_jit
def continuation(
    network: Network, prefix: Array, steps: int, temperature: Array, *, top: int = 0, key: Array
) -> tuple[Array, Drawing]:
    """Return (tokens, where the rows stand): `steps` more tokens behind each row of a prefix, in one program.

    Args:
        network: for language.
        prefix: shape (rows, given steps).
        steps: how many tokens to draw.
        temperature: scalar.
        top: draw among the most likely ones only; 0 for all.
        key: PRNG key.
    """
    drawing, found = drawn(network, primed(network, prefix, key=key), steps, temperature=temperature, top=top)
    return found, drawing


def _chosen(logits: Array, key: Array, temperature: float | Array, top: int) -> Array:
    """Draw one token."""
    if top:
        least = jax.lax.top_k(logits, top)[0][-1]
        logits = jnp.where(logits >= least, logits, -jnp.inf)
    return jax.random.categorical(key, logits / temperature).astype(jnp.int32)
