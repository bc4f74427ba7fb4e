"""Benchmark `mimo`: one recurrence of 64 modes between 64 inputs and 64 outputs, as in S5."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.bench import peers
from stablessm.bench.base import Case
from stablessm.bench.programs import program


def _ours(a: Array, t: Array, b: Array, c: Array, u: Array) -> Array:
    return engine.recur(engine.poles(a, t), u, drive=b, readout=c)[0]


def _by_chunks(a: Array, t: Array, b: Array, c: Array, u: Array) -> Array:
    return engine.recur(engine.poles(a, t), u, drive=b, readout=c, method="chunked")[0]


def cases(quick: bool) -> Iterator[Case]:
    """Yield forward and gradient at 4096 steps.

    Args:
        quick: 1 series instead of 8.
    """
    batch, states, length = 1 if quick else 8, 64, 4096
    declared = f"{batch} series" if quick else ""
    rng = np.random.default_rng(0)
    a = np.full(states, -0.01, np.float32)
    t = rng.uniform(-np.pi, np.pi, states).astype(np.float32)
    b, c = (((rng.normal(size=(64, 64)) + 1j * rng.normal(size=(64, 64))) / 8).astype(np.complex64) for _ in range(2))
    u = rng.normal(size=(batch, length, 64)).astype(np.float32)
    exact, state = [], np.zeros((batch, states), complex)
    for x in np.moveaxis(u, 1, 0):
        state = np.exp(a.astype(float) + 1j * t) * state + x @ b.astype(complex).T
        exact.append((state @ c.T).real)
    exact = np.stack(exact, axis=1)
    arrays, methods = (a, t, b, c, u), {"associative scan (S5)": peers.associative_mimo, "engine: scan": _ours,
                                        "engine: chunked": _by_chunks}  # fmt: skip

    def gradient(function: Callable) -> Callable:
        return jax.grad(lambda *arrays: (function(*arrays) ** 2).sum(), (0, 1, 2, 3, 4))

    yield Case("forward", states, length, [
        program(name, function, arrays, units=batch, exact=exact, declared=declared)
        for name, function in methods.items()
    ])  # fmt: skip
    yield Case("gradient", states, length, [
        program(name, gradient(function), arrays, units=batch, declared=declared)
        for name, function in methods.items()
    ])  # fmt: skip
