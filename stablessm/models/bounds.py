r"""What the theorems promise of a stack of Eq. 2 layers: its memory (Theorem 3.1) and its gradients (Theorem 3.4).

All of it holds for the model as it is sampled. With the multiplier lambda_bar and the gain g of each state (zero-order
hold: |lambda_bar| = e^{-s dt}, |g| <= dt), started from rest, the increments v^(l)_k = h^(l)_k - h^(l)_{k-1} after the
onset of a constant input x satisfy

    v^(1)_k = lambda_bar^k g U x,        |v^(l)_k| <= sum_j |lambda_bar|^{k-j} |g| |U| L |v^(l-1)_j|.

- Kept as they are, these are the memory of the linear model whose weights are the moduli and whose sigma is L h
  (`memory_majorant`), which a model of one mode and sigma = identity attains.
- With the slowest |lambda_bar| = e^{-beta dt} and 2-norms at most theta_max they sum up to Theorem 3.1
  (`memory_bound`). Its t^{l-1} is t^{l-1}/(l-1)! in continuous time and dt^{l-1} binom(k + l - 1, l - 1) on samples.

For Theorem 3.4 the derivative of h_i in lambda_i is at most a_i/margin_i^2, a_i = max_k |(U y + b)_i| the drive of the
state: sum_k k |lambda|^{k-1} = 1/(1 - |lambda|)^2, and int t e^{-st} dt = 1/s^2 for inputs held over each step. What is
above the layer multiplies it by at most r_i, with r^(L) = |C| L and r^(l) = r^(l+1) diag(|g|/(1 - |lambda_bar|)) |U| L.

References: Wang and Li, StableSSM (ICML 2024), Theorems 3.1 and 3.4 (camera-ready: 3.3 and 3.6).
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.layers import SSM
from stablessm.layers.diagonal import joined
from stablessm.models.stack import Stack

_EXACT = jax.lax.Precision.HIGHEST


def largest_weight(stack: Stack) -> Array:
    """Return theta_max, the largest 2-norm among the readout, the input weights and the biases of a stack."""
    norms = [jnp.linalg.norm(_readout(stack), ord=2)]
    for layer in _layers(stack):
        norms.append(jnp.linalg.norm(joined(layer.input_weight, layer.phase), ord=2))
        if layer.bias is not None:
            norms.append(jnp.linalg.norm(joined(layer.bias, layer.phase)))
    return jnp.stack(norms).max()


def slowest_decay(stack: Stack) -> Array:
    """Return beta, the smallest decay of all states per unit time: -log|lambda| in discrete time.

    For `direct` this is the radius beta_0 of Theorem 3.1: a perturbation of that size reaches the stability boundary.
    """
    return jnp.concatenate([_decay_per_step(layer) for layer in _layers(stack)]).min() / _step_size(stack)


def memory_bound(stack: Stack, length: int) -> Array:
    """Return Theorem 3.1's (d + 1) L^l theta_max^{l+1} t^{l-1}/(l-1)! e^{-beta t} at each step, shape (length,).

    It holds for the memory function of the model at rest, per unit time.

    Args:
        stack: of `SSM` layers of one time and step size.
        length: number of steps.

    Raises:
        ValueError: a layer of another kind, or layers of different step sizes.
    """
    layers, step = _layers(stack), _step_size(stack)
    depth, features = len(layers), layers[0].inputs
    lipschitz = math.prod(layer.activation.lipschitz for layer in layers)
    steps = np.arange(length)
    paths = np.array([math.comb(int(k) + depth - 1, depth - 1) for k in steps], float) * step ** (depth - 1)
    theta = largest_weight(stack)
    fading = jnp.exp(-slowest_decay(stack) * step * steps)
    return (features + 1) * lipschitz * theta ** (depth + 1) * jnp.asarray(paths, theta.dtype) * fading


def memory_majorant(stack: Stack, length: int) -> Array:
    """Return the memory function of the linear model of moduli, per unit time: a bound from all weights of a model.

    Never above `memory_bound`, and equal to the memory function for one layer of one sign and sigma = identity.

    Args:
        stack: of `SSM` layers of one time and step size.
        length: number of steps.

    Raises:
        ValueError: as `memory_bound`.
    """
    found = jnp.einsum("kn,on->ko", increments(stack, length)[-1], jnp.abs(_readout(stack)), precision=_EXACT)
    return found.max(-1)


def increments(stack: Stack, length: int) -> list[Array]:
    """Return bounds on |y^(l)_k - y^(l)_{k-1}|/dt after the onset of |x| <= 1, a list of shapes (length, states).

    Args:
        stack: of `SSM` layers of one time and step size.
        length: number of steps.

    Raises:
        ValueError: as `memory_bound`.
    """
    layers, step = _layers(stack), _step_size(stack)
    series = jnp.zeros((length, layers[0].inputs), layers[0].weight.dtype).at[:1].set(1 / step)
    found = []
    for layer in layers:
        series = engine.recur(engine.poles(-_decay_per_step(layer)), series, drive=_drive(layer))[0]
        series = layer.activation.lipschitz * series
        found.append(series)
    return found


def gradient_constants(stack: Stack, inputs: Array) -> list[Array]:
    """Return C of Theorem 3.4 for every recurrent weight, a list of shapes (recurrent states,), layer by layer.

    The loss sup_k |y_k - target_k| over a series, from the zero state, has |dLoss/dw_i| <= C_i |f'(w_i)|/margin_i^2,
    whatever the target: C depends on the model and its inputs, and not on the map.

    Args:
        stack: of `SSM` layers, without memoryless states.
        inputs: x, shape (time, inputs), or (time,) for a scalar series.

    Raises:
        ValueError: a layer of another kind.
    """
    layers, driving, y = _layers(stack), [], inputs[:, None] if stack.scalar else inputs
    for place, layer in enumerate(layers):
        drive = jnp.einsum("ki,ni->kn", y, joined(layer.input_weight, layer.phase), precision=_EXACT)
        drive = drive if layer.bias is None else drive + joined(layer.bias, layer.phase)
        driving.append(jnp.abs(drive).max(0))
        y = layer(y)[0] if place + 1 < len(layers) else None
    above, found = jnp.abs(_readout(stack)), []
    for layer, largest in zip(layers[::-1], driving[::-1], strict=True):
        above = above * layer.activation.lipschitz
        found.append((above.max(0) * largest)[: layer.weight.shape[0]])
        summed = 1 / -jnp.expm1(-_decay_per_step(layer))
        above = jnp.einsum("on,ni->oi", above * summed, _drive(layer), precision=_EXACT)
    return found[::-1]


def _layers(stack: Stack) -> tuple[SSM, ...]:
    for place, layer in enumerate(stack.layers):
        if not isinstance(layer, SSM):
            raise ValueError(f"the bounds hold for layers of Eq. 2, but layer {place} is a {type(layer).__name__}")
    return stack.layers


def _step_size(stack: Stack) -> float:
    sizes = sorted({layer.step_size for layer in stack.layers})
    if len(sizes) > 1:
        raise ValueError(f"the bounds hold for layers of one step size, but got {sizes[0]:g} and {sizes[-1]:g}")
    return sizes[0]


def _readout(stack: Stack) -> Array:
    if stack.readout is not None:
        return stack.readout
    return jnp.eye(stack.layers[-1].outputs, dtype=stack.layers[-1].weight.dtype)


def _decay_per_step(layer: SSM) -> Array:
    """-log|lambda_bar| of each state."""
    return -layer.poles().log_modulus


def _drive(layer: SSM) -> Array:
    """|g U|, shape (states, inputs)."""
    return jnp.abs(layer.discretised()[1][:, None] * joined(layer.input_weight, layer.phase))
