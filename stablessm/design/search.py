"""The search for the constants of a learned map: descents from several starts, and a polish of their ends.

Adam from Optax descends the smoothed supremum. The ends are then polished by sequential quadratic programming, which
has the supremum and the conditions as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from scipy.optimize import minimize

from stablessm.design.objective import POINTS, SLACK, SLOPE_SLACK, Task

CHECKED = 4001
_STEPS, _STARTS, _POLISHED = 400, 4, 2
_RATES, _SHARPNESS = (5e-2, 1e-3), (10.0, 1000.0)
_FREE = 4.0
"""How far the polish may take the logarithm of a constant."""


def descended(task: Task, seed: int) -> np.ndarray:
    """Logarithms of the constants at the ends of descents from several starts, the best first."""
    given, scales = dict(task.family.start), {"b": task.memory[0]}
    far = max(map(abs, task.weights))
    units = {"h": far, "k": far} if task.family.start else {}
    names = task.record.constant_names
    middle = [np.log(given.get(one, 1.0) * scales.get(one, 1.0) * units.get(one, 1.0)) for one in names]
    spread = np.random.default_rng(seed).normal(0.0, 0.7, (_STARTS, len(names)))
    spread[0] = 0.0
    starts = jnp.asarray(np.asarray(middle) + spread, jnp.result_type(float))
    schedule = optax.exponential_decay(_RATES[0], _STEPS, _RATES[1] / _RATES[0])
    optimizer = optax.apply_if_finite(optax.adam(schedule), _STEPS)
    sharper = jnp.geomspace(*_SHARPNESS, _STEPS)

    def descend(logs: Array) -> tuple[Array, Array]:
        def step(carried: tuple, sharpness: Array) -> tuple[tuple, None]:
            logs, state = carried
            updates, state = optimizer.update(jax.grad(task.loss)(logs, sharpness), state, logs)
            return (optax.apply_updates(logs, updates), state), None

        (logs, _), _ = jax.lax.scan(step, (logs, optimizer.init(logs)), sharper)
        return logs, task.loss(logs, sharper[-1])

    ends, losses = jax.jit(jax.vmap(descend))(starts)
    return np.asarray(ends, float)[np.argsort(np.where(np.isfinite(losses), losses, np.inf))]


def polished(task: Task, ends: np.ndarray) -> dict[str, float]:
    """The best of the ends, each brought to where the conditions hold with equality that hold it back.

    The least t with t - ln Q(w) >= 0 on the grid, and the conditions >= 0: sequential quadratic programming.
    """

    def conditions(logs: Array) -> Array:
        levels, memory, slope = task.curves(task.named(jnp.exp(logs[:-1])), POINTS)
        kept = [np.log(task.memory[0]) - SLACK - memory.min(), memory.max() - np.log(task.memory[1]) - SLACK]
        kept += [np.log(task.slope) - SLOPE_SLACK - jnp.log(slope)] if np.isfinite(task.slope) else []
        return jnp.concatenate([logs[-1] + np.log(task.least) - levels, jnp.stack(kept)])

    value, slopes = jax.jit(conditions), jax.jit(jax.jacfwd(conditions))
    best, least = _rounded(task.named(np.exp(ends[0]))), np.inf
    for logs in ends[:_POLISHED]:
        reserve = np.asarray(value(np.append(logs, 0.0)), float)
        start = np.append(logs, -reserve[:POINTS].min())
        found = minimize(
            lambda x: x[-1], start, jac=lambda x: np.eye(len(x))[-1], method="SLSQP",
            constraints={"type": "ineq", "fun": lambda x: np.asarray(value(x), float),
                         "jac": lambda x: np.asarray(slopes(x), float)},
            options={"maxiter": 100, "ftol": 1e-7},
            bounds=[*((one - _FREE, one + _FREE) for one in logs), (None, None)],
        )  # fmt: skip
        for end in (logs, found.x[:-1]):
            constants = _rounded(task.named(np.exp(end)))
            measured = task.measured(constants, CHECKED)
            kept = keeps(measured, task.memory, task.slope) and measured["level"] > (1 - SLACK) * task.least
            if kept and measured["level"] < least:
                best, least = constants, measured["level"]
    return best


def _rounded(constants: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in constants.items()}


def keeps(found: Mapping[str, float], memory: tuple[float, float], slope: float) -> bool:
    """Whether a measured map reaches the memory lengths and stays below the bound on the slope."""
    return (
        np.isfinite(found["longest"])
        and found["shortest"] <= memory[0] * (1 + 1e-5)
        and found["longest"] >= memory[1] * (1 - 1e-5)
        and (found["slope"] <= slope * (1 + 1e-6))
    )
