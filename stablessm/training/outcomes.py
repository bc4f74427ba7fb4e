"""What a training run came to: an outcome, stored as data.

| code | name           | when                                                                                     |
|------|----------------|------------------------------------------------------------------------------------------|
| 0    | converged      | the loss changes by less than 1e-3 of itself over the last tenth of the steps             |
| 1    | step_limit     | none of the others                                                                        |
| 2    | collapsed      | the final loss is at least 0.99 of that of the zero model                                 |
| 3    | diverged       | the loss exceeds 1e3 times the initial one, or its mean over the last tenth the initial one |
| 4    | nonfinite      | a loss or a gradient is not finite                                                        |
| 5    | outside_domain | as nonfinite, and a weight has left the range where the map's formula is finite            |

The last that applies, in the order of the table, counts. Stable means converged or step_limit.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

OUTCOMES = ("converged", "step_limit", "collapsed", "diverged", "nonfinite", "outside_domain")
CONVERGED, STEP_LIMIT, COLLAPSED, DIVERGED, NONFINITE, OUTSIDE_DOMAIN = range(len(OUTCOMES))
STABLE = (CONVERGED, STEP_LIMIT)

EXPLOSION = 1e3
TAIL = 0.1
CHANGE = 1e-3
COLLAPSE = 0.99


class Verdict(NamedTuple):
    """Outcome code and the first bad step, -1 where there is none; both int32 scalars."""

    outcome: Array
    first_bad_step: Array


def judge(losses: Array, *, nonfinite_step: Array, left_domain: Array, zero_loss: Array) -> Verdict:
    """Return the outcome of a run.

    Args:
        losses: loss before each step and after the last, shape (steps + 1,); it stays at its last finite value after a
            non-finite step.
        nonfinite_step: first step whose loss or gradient is not finite, -1 where there is none.
        left_domain: whether a weight had left the finite range of its map at that step.
        zero_loss: loss of the zero model, which remembers nothing.
    """
    steps = losses.shape[0] - 1
    tail = losses[-max(2, round(TAIL * steps) + 1) :]
    initial, final = losses[0], losses[-1]

    exploded = losses > EXPLOSION * initial
    ends_above = tail.mean() > initial
    changes = jnp.abs(final - tail[0]) > CHANGE * jnp.abs(tail[0])
    outcome = jnp.where(changes, STEP_LIMIT, CONVERGED)
    outcome = jnp.where(final >= COLLAPSE * zero_loss, COLLAPSED, outcome)
    outcome = jnp.where(exploded.any() | ends_above, DIVERGED, outcome)
    outcome = jnp.where(nonfinite_step >= 0, jnp.where(left_domain, OUTSIDE_DOMAIN, NONFINITE), outcome)

    first_above = jnp.where(exploded.any(), jnp.argmax(exploded), jnp.argmax(losses > initial))
    bad = jnp.where(nonfinite_step >= 0, nonfinite_step, jnp.where(outcome == DIVERGED, first_above, -1))
    return Verdict(outcome.astype(jnp.int32), bad.astype(jnp.int32))


def is_stable(outcome: Array) -> Array:
    """Return whether an outcome code is a stable one."""
    return (outcome == CONVERGED) | (outcome == STEP_LIMIT)
