r"""Memory functions: how strongly the output still feels an input of long ago.

M(H)(t) = sup_{x != 0} |d/dt H_t(u^x)| / (|x|_inf + 1) with the Heaviside input u^x(t) = x for t >= 0. In discrete time
the derivative is y_k - y_{k-1}. For a linear model with kernel K the supremum is |K_k|, summed over the inputs, and is
read from the kernel without running the model (`of_kernel`); any other model is run (`probes`), and its supremum is
sought (`supremum.memory_function`).

References: Wang and Li, StableSSM (ICML 2024), Definition 2.1; Wang, Li and Li (ICLR 2024), section 2.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from stablessm.memory import probes
from stablessm.memory.probes import Model


def rest(model: Model, steps: int, x: ArrayLike) -> Any:
    """Return the state after a number of zero inputs of the shape of `x`: where a model with a bias waits for an input.

    Args:
        model: any model with the layer interface.
        steps: how long it waits.
        x: one input, scalar or shape (inputs,).
    """
    return model(jnp.zeros((steps, *jnp.shape(x))), None)[1]


def heaviside(model: Model, x: ArrayLike, length: int, *, state: Any = None) -> Array:
    """Return |y_k - y_{k-1}| for the input that is x from step 0 on, shape (length,) or (length, outputs).

    A linear model gives |K_k x|.

    Args:
        model: any model with the layer interface.
        x: the constant input, scalar or shape (inputs,).
        length: number of steps.
        state: as in `probes.run`.

    Example:
        >>> import jax.numpy as jnp
        >>> heaviside(lambda x, state: (jnp.cumsum(x), state), 2.0, 3).tolist()
        [2.0, 2.0, 2.0]
    """
    return probes.run(model, probes.heaviside(x, length), state=state)


def impulse(model: Model, x: ArrayLike, length: int, *, state: Any = None) -> Array:
    """Return y_k for the input that is x at step 0 and zero afterwards: K_k x where the model is linear, signed.

    Args:
        model: any model with the layer interface.
        x: the input at step 0, scalar or shape (inputs,).
        length: number of steps.
        state: as in `probes.run`.
    """
    return probes.run(model, probes.impulse(x, length), state=state)


def context_differences(
    model: Model, inputs: Array, lags: ArrayLike, *, change: ArrayLike = 1.0, state: Any = None
) -> Array:
    """Return |y_T - y'_T| / |x_{T-l} - x'_{T-l}| for each lag l, T being the last step, shape (lags,).

    Args:
        model: any model with the layer interface.
        inputs: x, shape (time,) or (time, inputs).
        lags: whole numbers from 0 to time - 1; not checked where traced.
        change: what is added to the input at the lag, scalar or shape (inputs,); not zero.
        state: as in `probes.run`.

    Raises:
        ValueError: a lag lies outside the inputs.

    Example:
        >>> import jax.numpy as jnp
        >>> context_differences(lambda x, state: (2 * x, state), jnp.ones(4), [0, 1]).tolist()
        [2.0, 0.0]
    """
    return probes.run(model, probes.context(inputs, lags, change=change), state=state)


def of_kernel(kernel: Array) -> Array:
    """Return the memory function of a linear model: |K_k|_1 over the inputs, the largest over the outputs.

    Args:
        kernel: shape (length,), or (length, outputs, inputs) as `layer.kernel` gives it.
    """
    size = jnp.abs(kernel)
    return size if size.ndim == 1 else size.sum(-1).max(-1)
