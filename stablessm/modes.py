r"""What it costs to move a mode: L1 distances of c U e^{lambda t} and of sums of such modes, in closed form.

Definition 3.2 measures a perturbation of an eigenvalue by |Re lambda| int_0^inf |e^{lambda~ t} - e^{lambda t}| dt. With
s = -Re lambda:

| what moves                        | that distance                                     | as s -> 0  |
|-----------------------------------|---------------------------------------------------|------------|
| the decay, s to s~                | abs(s/s~ - 1)                                     | by the map |
| a free phase, by delta            | delta s/(s^2 + delta^2/4) coth(pi s/delta)        | 4/pi       |
| a phase that is s times a weight, |                                                   |            |
| by eta                            | eta/(1 + eta^2/4) coth(pi/eta)                    | the same   |

The second follows from |1 - e^{i delta t}| = 2 |sin(delta t/2)| and the Laplace transform of a rectified sine; it does
not vanish with delta -> 0 uniformly in s, so that a free phase is no stable reparameterization whatever the map of the
decay, and the third is its cure. A readout weight that moves by beta costs beta |U|/s, without bound as s -> 0: Theorem
3.3 is about the recurrent weights only, and needs sup_m sum_i |c_i U_i|/|lambda_i| finite (`absolute_mass`).

References: Wang and Li, StableSSM (ICML 2024), Definition 3.2 and Theorem 3.3; the last three rows are this project's.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike


def decay_distance(decay: ArrayLike, moved: ArrayLike) -> Array:
    """Return s int |e^{-s~ t} - e^{-s t}| dt = |s/s~ - 1|; infinite where the moved decay is not positive.

    Args:
        decay: s > 0.
        moved: s~, of a shape that broadcasts.

    Example:
        >>> round(float(decay_distance(0.5, 0.4)), 6)
        0.25
    """
    decay, moved = jnp.asarray(decay), jnp.asarray(moved)
    return jnp.where(moved > 0, jnp.abs(decay - moved) / jnp.where(moved > 0, moved, 1), jnp.inf)


def free_phase_distance(decay: ArrayLike, change: ArrayLike) -> Array:
    """Return s int |e^{(-s + i (theta + delta)) t} - e^{(-s + i theta) t}| dt, whatever theta.

    Args:
        decay: s > 0.
        change: delta, of a shape that broadcasts; 0 gives 0.

    Example:
        >>> round(float(free_phase_distance(1e-6, 0.1)) * jnp.pi / 4, 6)
        1.0
    """
    return scaled_phase_distance(jnp.abs(jnp.asarray(change)) / jnp.asarray(decay))


def scaled_phase_distance(change: ArrayLike) -> Array:
    """Return the same where the phase is s times a weight that moves by eta: no longer a function of s.

    Args:
        change: eta; 0 gives 0.

    Example:
        >>> round(float(scaled_phase_distance(0.1)), 6)
        0.099751
    """
    eta = jnp.abs(jnp.asarray(change, jnp.result_type(float)))
    safe = jnp.where(eta > 0, eta, 1)
    # eta/(1 + eta^2/4) written in 1/eta, which does not overflow where eta is large
    return jnp.where(eta > 0, 1 / ((1 / safe + safe / 4) * jnp.tanh(jnp.pi / safe)), 0)


def absolute_mass(weights: ArrayLike, decay: ArrayLike) -> Array:
    """Return sum_i |c_i U_i|/|Re lambda_i|, whose supremum over the width Theorem 3.3 needs finite.

    Weights that a map moves by at most beta then cost at most g(beta) times this in the L1 norm of the kernel.

    Args:
        weights: c_i U_i, real or complex, modes along the last axis.
        decay: s_i > 0, likewise.

    Example:
        >>> float(absolute_mass(jnp.array([1.0, -2.0]), jnp.array([0.5, 4.0])))
        2.5
    """
    return (jnp.abs(jnp.asarray(weights)) / jnp.asarray(decay)).sum(-1)


def readout_cost(input_weight: ArrayLike, decay: ArrayLike, beta: ArrayLike) -> Array:
    """Return the largest L1 change of a kernel of real modes whose readout weights move by at most beta in 2-norm.

    beta |(U_i/s_i)_i|_2, attained by changes proportional to U_i/s_i; a single weight costs beta |U_i|/s_i.

    Args:
        input_weight: U_i, modes along the last axis.
        decay: s_i > 0, likewise.
        beta: size of the change.

    Example:
        >>> float(readout_cost(jnp.array([3.0, -1.0]), jnp.array([1.0, 0.25]), 0.1))
        0.5
    """
    return jnp.asarray(beta) * jnp.linalg.norm(jnp.asarray(input_weight) / jnp.asarray(decay), axis=-1)
