"""The error of each operation at a size, against float64: the figure that belongs beside a speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stablessm.engine.bank import filter_bank
from stablessm.engine.convolution import convolve
from stablessm.engine.poles import poles
from stablessm.engine.powers import powers
from stablessm.engine.recurrence import recur
from stablessm.engine.vandermonde import kernel
from stablessm.engine.varying import recur_varying


def error_estimate(operation: str, *, states: int, length: int, dtype: Any = jnp.float32) -> float:
    """Return the largest error over the largest value of an operation, on poles as long as the series and shorter.

    Log moduli from -1/L to -0.1 a step, any phase, random weights and inputs, all exactly as the dtype holds them; the
    reference is float64, its phases reduced in extended precision.

    Args:
        operation: "powers", "kernel", "convolve", "recur", "recur_varying" (log moduli that are up to half as large and
            as small again from step to step), or a method of `filter_bank` ("convolution", "chunked",
            "scan", "associative").
        states: N, at least 1.
        length: L, at least 1.
        dtype: of the computation, float32 or (where JAX is set to it) float64.

    Raises:
        ValueError: an unknown operation, or a size that is not positive.

    Example:
        >>> error_estimate("powers", states=4, length=1000) < 1e-6
        True
    """
    if operation not in _OPERATIONS:
        raise ValueError(f"`operation` must be one of {', '.join(_OPERATIONS)}, but got {operation!r}")
    if states < 1 or length < 1:
        raise ValueError(f"`states` and `length` must be at least 1, but got {states} and {length}")
    rng = np.random.default_rng(0)
    kind = np.dtype(dtype)
    log_modulus = -np.geomspace(min(0.1, 1 / length), 0.1, states)
    arrays = (
        log_modulus, rng.uniform(-np.pi, np.pi, states), rng.normal(size=states) / states, rng.normal(size=length)
    )  # fmt: skip
    problem = tuple(one.astype(kind) for one in arrays)
    exact = _OPERATIONS[operation][1](*(one.astype(float) for one in problem))
    actual = np.asarray(jax.jit(_OPERATIONS[operation][0])(*map(jnp.asarray, problem)))
    return float(np.abs(actual - exact).max() / np.abs(exact).max())


def _table(log_modulus: np.ndarray, phase: np.ndarray, length: int) -> np.ndarray:
    full_turn = np.longdouble("6.283185307179586476925286766559005768")
    turns = phase.astype(np.longdouble)[:, None] / full_turn * np.arange(length)
    return np.exp(log_modulus[:, None] * np.arange(length) + 2j * np.pi * (turns - np.round(turns)).astype(float))


def _exact_powers(a: np.ndarray, t: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    return _table(a, t, len(u))


def _exact_kernel(a: np.ndarray, t: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    total = np.zeros(len(u))
    for n in range(len(a)):  # a mode at a time: the table of all may not fit in memory
        total += w[n] * _table(a[n : n + 1], t[n : n + 1], len(u))[0].real
    return total


def _convolved(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    size = 2 * len(one)
    return np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(two, size), size)[: len(one)]


def _exact_bank(a: np.ndarray, t: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    return _convolved(_exact_kernel(a, t, w, u), u)


def _exact_convolve(a: np.ndarray, t: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    return _convolved(np.cos(np.arange(len(u))) / (1 + np.arange(len(u))), u)


def _exact_states(a: np.ndarray, t: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    return _stepped(np.broadcast_to(np.exp(a + 1j * t), (len(u), len(a))), u)


def _exact_varying(a: np.ndarray, t: np.ndarray, w: np.ndarray, u: np.ndarray) -> np.ndarray:
    return _stepped(np.exp(a * _swing(len(u)) + 1j * t), u)


def _stepped(multipliers: np.ndarray, u: np.ndarray) -> np.ndarray:
    state, states = np.zeros(multipliers.shape[1], complex), []
    for step, x in zip(multipliers, u, strict=True):
        state = step * state + x
        states.append(state)
    return np.stack(states)


def _swing(length: int) -> np.ndarray:
    """What a log modulus is multiplied by at each step, numbers that float32 holds, shape (length, 1)."""
    return (1 + np.cos(np.arange(length)[:, None]) / 2).astype(np.float32).astype(float)


def _varying(a: jax.Array, t: jax.Array, w: jax.Array, u: jax.Array) -> jax.Array:
    modulus = jnp.exp(a * jnp.asarray(_swing(u.shape[0]), a.dtype))
    return recur_varying(jax.lax.complex(modulus * jnp.cos(t), modulus * jnp.sin(t)), u[:, None])[0]


def _bank(method: str) -> Callable:
    return lambda a, t, w, u: filter_bank(poles(a, t), w, u, method=method)[0]


def _convolve(a: jax.Array, t: jax.Array, w: jax.Array, u: jax.Array) -> jax.Array:
    steps = np.arange(u.shape[0])
    return convolve(u, jnp.asarray(np.cos(steps) / (1 + steps), u.dtype))


_OPERATIONS: dict[str, tuple[Callable, Callable]] = {
    "powers": (lambda a, t, w, u: powers(poles(a, t), np.arange(u.shape[0])), _exact_powers),
    "kernel": (lambda a, t, w, u: kernel(poles(a, t), w, u.shape[0]), _exact_kernel),
    "convolve": (_convolve, _exact_convolve),
    "recur": (lambda a, t, w, u: recur(poles(a, t), u)[0], _exact_states),
    "recur_varying": (_varying, _exact_varying),
    **{name: (_bank(name), _exact_bank) for name in ("convolution", "chunked", "scan", "associative")},
}
