"""Images moved by a few pixels, before they become sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stablessm.data.records import Examples

if TYPE_CHECKING:
    from jax import Array


def shifted(
    examples: Examples, key: Array, *, shape: tuple[int, int], most: int, order: np.ndarray | None = None
) -> Examples:
    """Return sequences of images that are moved across and down by up to some pixels, each image by its own draw.

    What comes in at an edge is 0, and what leaves at the other one is lost.

    Args:
        examples: sequences as `images.sequences` makes them, a batch of them; traced or not.
        key: PRNG key of the batch.
        shape: rows and columns of an image.
        most: pixels, at least 1; every whole number from -most to most is as likely.
        order: which pixel stands at each step, where they are permuted.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> rows = Examples(jnp.ones((2, 9, 1)), jnp.zeros(2, int))
        >>> shifted(rows, jax.random.key(0), shape=(3, 3), most=2).inputs.shape
        (2, 9, 1)
    """
    import jax
    import jax.numpy as jnp

    inputs = examples.inputs
    back = None if order is None else np.argsort(order)
    images = (inputs if back is None else inputs[:, back]).reshape(len(inputs), *shape, -1)
    padded = jnp.pad(images, ((0, 0), (most, most), (most, most), (0, 0)))
    starts = jax.random.randint(key, (len(inputs), 2), 0, 2 * most + 1)

    def cut(image: Array, start: Array) -> Array:
        return jax.lax.dynamic_slice(image, (start[0], start[1], 0), (*shape, image.shape[-1]))

    moved = jax.vmap(cut)(padded, starts).reshape(inputs.shape)
    return examples._replace(inputs=moved if order is None else moved[:, order])
