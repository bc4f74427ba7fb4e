"""Recordings begun a little later, and played a little faster or slower, before a network hears them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stablessm.data.records import Examples

if TYPE_CHECKING:
    from jax import Array


def played(examples: Examples, key: Array, *, latest: int, speed: float) -> Examples:
    """Return recordings that begin later and are played at another speed, each by its own draws.

    A sample between two others is interpolated linearly; what stands before the beginning and behind the end is 0, and
    what leaves at the last step is lost. A faster recording is a higher one, too.

    Args:
        examples: values, shape (rows, time, 1), with lengths; traced or not.
        key: PRNG key of the batch.
        latest: samples; every beginning from 0 to this is as likely.
        speed: by how much it is at most faster or slower: log-uniform in [1/(1 + speed), 1 + speed]; 0 for never.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> rows = Examples(jnp.ones((1, 4, 1)), jnp.zeros(1, int), jnp.array([2]))
        >>> later = played(rows, jax.random.key(0), latest=2, speed=0.0)
        >>> int(later.inputs.sum()), int(later.lengths[0])
        (2, 4)
    """
    import jax
    import jax.numpy as jnp

    count, time, _ = examples.inputs.shape
    start_key, speed_key = jax.random.split(key)
    starts = jax.random.randint(start_key, (count,), 0, latest + 1)
    edge = math.log1p(speed)
    speeds = jnp.exp(jax.random.uniform(speed_key, (count,), minval=-edge, maxval=edge))

    def one(sound: Array, length: Array, start: Array, speed: Array) -> tuple[Array, Array]:
        place = (jnp.arange(time) - start) * speed
        before = jnp.clip(jnp.floor(place).astype(jnp.int32), 0, time - 1)
        share = (place - before).astype(sound.dtype)
        values = sound[before] * (1 - share) + sound[jnp.minimum(before + 1, time - 1)] * share
        end = start + jnp.floor((length - 1) / speed).astype(jnp.int32) + 1
        heard = (jnp.arange(time) >= start) & (jnp.arange(time) < end)
        return jnp.where(heard, values, 0), jnp.minimum(time, end)

    sounds, lengths = jax.vmap(one)(examples.inputs[..., 0], examples.lengths, starts, speeds)
    return examples._replace(inputs=sounds[..., None], lengths=lengths)
