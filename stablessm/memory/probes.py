r"""Input series that show what a model remembers, and how to read the answer from its outputs.

A probe is a stack of series and a reading; probes of one length can be joined, and go through a model in a single
batched run. A model is anything with the layer interface `model(x, state=None) -> (y, state)`, linear or not. What it
puts out at zero input, as it does with a bias, is subtracted.

| probe        | series                              | reading, for a linear model with kernel K       |
|--------------|-------------------------------------|-------------------------------------------------|
| heaviside(x) | x from step 0 on; zero              | abs(y_k - y_{k-1}) = abs(K_k x)                  |
| impulse(x)   | x at step 0; zero                   | y_k = K_k x, signed                             |
| context      | one series; changed at each lag     | abs(y_T - y'_T) / abs(dx) = abs(K_lag)           |

References: Wang and Li, StableSSM (ICML 2024), Definition 2.1; Wang, Li and Li (ICLR 2024), section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

Model = Callable[[Array, Any], tuple[Array, Any]]


class Probe(NamedTuple):
    """Series to put into a model, and how to read its outputs.

    Attributes:
        inputs: shape (series, time) or (series, time, inputs).
        read: outputs, of shape (series, time) or (series, time, outputs) -> what is measured.
    """

    inputs: Array
    read: Callable[[Array], Array]


def run(model: Model, probe: Probe, *, state: Any = None) -> Any:
    """Put the series of a probe through a model, all at once, and return its reading.

    Args:
        model: any model with the layer interface.
        probe: one probe, or several as one (`joined`).
        state: state before the first step; zero by default. A nonlinear model with a bias is at rest in its state after
            many zero inputs (`functions.rest`).

    Example:
        >>> run(lambda x, state: (jnp.cumsum(x), state), heaviside(2.0, 3)).tolist()
        [2.0, 2.0, 2.0]
    """
    return probe.read(jax.vmap(lambda x: model(x, state)[0])(probe.inputs))


def joined(*probes: Probe) -> Probe:
    """Return several probes of one length as one, whose reading is the list of theirs: one run of a model for all."""
    ends = np.cumsum([len(probe.inputs) for probe in probes])

    def read(outputs: Array) -> list[Any]:
        parts = [outputs[end - len(probe.inputs) : end] for probe, end in zip(probes, ends, strict=True)]
        return [probe.read(part) for probe, part in zip(probes, parts, strict=True)]

    return Probe(jnp.concatenate([probe.inputs for probe in probes]), read)


def heaviside(x: ArrayLike, length: int) -> Probe:
    """Return the probe that reads |y_k - y_{k-1}| after the onset of a constant input, of the shape of an output.

    Rounding is that of y, so that a decay is seen down to about eps times the sum of the kernel.

    Args:
        x: the constant input, scalar or shape (inputs,).
        length: number of steps.
    """
    x = jnp.asarray(x, jnp.result_type(float))
    series = jnp.broadcast_to(x, (length, *x.shape))

    def read(outputs: Array) -> Array:
        response = outputs[0] - outputs[1]
        return jnp.abs(jnp.diff(response, axis=0, prepend=jnp.zeros_like(response[:1])))

    return Probe(jnp.stack([series, jnp.zeros_like(series)]), read)


def impulse(x: ArrayLike, length: int) -> Probe:
    """Return the probe that reads the response to the input that is x at step 0 and zero afterwards.

    Args:
        x: the input at step 0, scalar or shape (inputs,).
        length: number of steps.
    """
    x = jnp.asarray(x, jnp.result_type(float))
    silence = jnp.zeros((length, *x.shape), x.dtype)
    return Probe(jnp.stack([silence.at[0].set(x), silence]), lambda outputs: outputs[0] - outputs[1])


def context(inputs: Array, lags: ArrayLike, *, change: ArrayLike = 1.0) -> Probe:
    r"""Return the probe that reads |y_T - y'_T| / |x_{T-l} - x'_{T-l}| for each lag l, T being the last step.

    The largest over the outputs, shape (lags,). A nonlinear model's answer depends on the series: take the supremum
    over several probes.

    Args:
        inputs: x, shape (time,) or (time, inputs).
        lags: whole numbers from 0 to time - 1; not checked where traced.
        change: what is added to the input at the lag, scalar or shape (inputs,); not zero.

    Raises:
        ValueError: a lag lies outside the inputs.
    """
    lags, change, length = jnp.asarray(lags), jnp.asarray(change, inputs.dtype), inputs.shape[0]
    if not isinstance(lags, jax.core.Tracer) and bool(((lags < 0) | (lags >= length)).any()):
        raise ValueError(f"`lags` must lie from 0 to {length - 1}, the steps before the last, but got {lags.tolist()}")
    changed = jax.vmap(lambda lag: inputs.at[length - 1 - lag].add(change))(lags)

    def read(outputs: Array) -> Array:
        differences = jnp.abs(outputs[1:, -1] - outputs[0, -1])
        return differences.reshape(len(lags), -1).max(-1) / jnp.abs(change).max()

    return Probe(jnp.concatenate([inputs[None], changed]), read)
