"""One compiled program per map, shared by the tests: every view and its first two derivatives at float32."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from stablessm import Parameterization
from tests.parameterizations.reference import VIEWS

SIZE = 8192
ORDERS = (0, 1, 2)


def derivatives(function: Callable[..., jax.Array]) -> list[Callable[..., jax.Array]]:
    """Return the vmapped function and its first two derivatives in the first argument, by reverse mode."""
    first = jax.grad(function)
    return [jax.vmap(one, (0,) + (None,) * 2) for one in (function, first, jax.grad(first))]


@lru_cache(maxsize=64)
def _program(parameterization: Parameterization) -> Callable[..., dict[tuple[str, int], jax.Array]]:
    functions = {view: lambda x, *_, view=view: getattr(parameterization, view)(x) for view in VIEWS}

    def program(weight: jax.Array) -> dict[tuple[str, int], jax.Array]:
        everywhere = {view: derivatives(function) for view, function in functions.items()}
        return {(v, order): everywhere[v][order](weight, None, None) for v in everywhere for order in ORDERS}

    return jax.jit(program)


@lru_cache(maxsize=64)
def _hold_program(parameterization: Parameterization) -> Callable[..., dict[tuple[str, int], jax.Array]]:
    def part(which: int, side: str | None) -> Callable[..., jax.Array]:
        def function(weight: jax.Array, step_size: jax.Array, frequency: jax.Array) -> jax.Array:
            if side is None:
                return parameterization.zero_order_hold(weight, step_size)[which]
            return getattr(parameterization.zero_order_hold(weight, step_size, frequency=frequency)[which], side)

        return function

    functions = {
        f"{name}{'' if side is None else '.' + side}": derivatives(part(which, side))
        for which, name in enumerate(("eigenvalue", "input"))
        for side in (None, "real", "imag")
    }

    def program(weight: jax.Array, step_size: jax.Array, frequency: jax.Array) -> dict[tuple[str, int], jax.Array]:
        return {
            (name, n): one(weight, step_size, frequency)
            for name, ones in functions.items()
            for n, one in enumerate(ones)
        }

    return jax.jit(program)


def _blocks(weight: np.ndarray) -> list[tuple[jax.Array, int]]:
    """Split into blocks of one size, the last padded with ones, so that each program is compiled once."""
    blocks = [weight[start : start + SIZE] for start in range(0, weight.size, SIZE)]
    return [(jnp.asarray(np.pad(one, (0, SIZE - one.size), constant_values=1)), one.size) for one in blocks]


def _run(program: Callable[[jax.Array], dict], weight: np.ndarray) -> dict[tuple[str, int], np.ndarray]:
    parts = [{key: np.asarray(value)[:size] for key, value in program(one).items()} for one, size in _blocks(weight)]
    return {key: np.concatenate([one[key] for one in parts]) for key in parts[0]}


def views(parameterization: Parameterization, weight: np.ndarray) -> dict[tuple[str, int], np.ndarray]:
    """Return every (view, order of derivative) at the weights."""
    return _run(_program(parameterization), weight)


def hold(parameterization: Parameterization, weight: np.ndarray, step_size: float, frequency: float):
    """Return every (factor of zero-order hold, order of derivative): real, and real and imaginary part."""
    program = _hold_program(parameterization)
    return _run(lambda x: program(x, jnp.float32(step_size), jnp.float32(frequency)), weight)
