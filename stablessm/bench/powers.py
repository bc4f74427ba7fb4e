"""Benchmark `powers`: tables of lambda^k at exponents up to a million, and their error."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm import engine
from stablessm.bench.base import Case
from stablessm.bench.programs import program

_FULL_TURN = np.longdouble("6.283185307179586476925286766559005768")


def cases(quick: bool) -> Iterator[Case]:
    """Yield tables of 512 poles by 4096 exponents, on the unit circle.

    Args:
        quick: 64 poles.
    """
    states = 64 if quick else 512
    declared = f"{states} poles" if quick else ""
    phase = np.random.default_rng(0).uniform(-np.pi, np.pi, states).astype(np.float32)
    for length in (4096, 10**6):
        steps = np.linspace(0, length, 4096).astype(np.int32)
        turns = (
            phase.astype(np.longdouble)[:, None] * steps / (2 * np.longdouble("3.14159265358979323846264338327950288"))
        )
        exact = np.exp(2j * np.pi * (turns - np.round(turns)).astype(float))

        def naive(t: Array, k: Array) -> Array:
            angle = t[:, None] * k
            return jax.lax.complex(jnp.cos(angle), jnp.sin(angle))

        def power(t: Array, k: Array) -> Array:
            return jnp.exp(1j * t)[:, None] ** k

        def split(t: Array, k: Array) -> Array:
            return engine.powers(engine.poles(jnp.zeros_like(t), t), k)

        candidates = {"exp(k log lambda)": naive, "lambda ** k": power, "engine: split turns": split}
        yield Case("table", states, length, [
            program(name, function, (phase, steps), units=1, exact=exact, declared=declared)
            for name, function in candidates.items()
        ])  # fmt: skip
