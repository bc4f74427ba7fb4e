"""What a learned map is optimised for: the supremum of a criterion over a grid of weights, under its conditions.

The supremum is smoothed (log-sum-exp, ever sharper), with the conditions (range of memory, bound on the slope) as
exact penalties, in logarithms of constants and criteria alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stablessm.design.purposes import Purpose
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.grammar import parse
from stablessm.parameterizations.lowering import lower

POINTS, _PENALTY = 201, 30.0
SLACK = 2e-4
"""Relative reserve in the range of memory, so that constants of six digits keep it."""
SLOPE_SLACK = 1e-3
"""The same in the bound on the slope, which is scanned more finely in the end."""
_FAR = 30.0
"""The scan for the slope of a family without a stated bound reaches so many widths of the interval beyond it."""


@dataclass(frozen=True)
class Family:
    """Maps that differ in their constants.

    Attributes:
        formula: of the decay; every constant is learned.
        bound: formula of a bound on |d ln s/dw| over all weights; empty where it is scanned.
        start: median of the starts, by constant: "b" in units of the shortest memory, "h" and "k" of the largest
            weight.
    """

    formula: str
    bound: str = ""
    start: tuple[tuple[str, float], ...] = ()


FAMILIES = {
    "units": Family(
        "1/(b*(1 + (w/h)^2)^p*(1 + (w/k)^2)^q)", "",
        (("b", 1.0), ("h", 0.1), ("p", 1.0), ("k", 0.5), ("q", 0.5)),
    ),
    "best": Family("1/(a*w^2 + b)", "sqrt(a/b)"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Task:
    """What is optimised, as functions of the constants."""

    record: Parameterization
    family: Family
    purpose: Purpose
    memory: tuple[float, float]
    weights: tuple[float, float]
    slope: float
    least: float

    def curves(self, constants: Mapping[str, Array], points: int) -> tuple[Array, Array, Array]:
        """ln Q and ln tau on a grid of weights, and the bound on the slope."""
        low, high = self.weights
        grid = jnp.linspace(low, high, points)
        ratio, memory = self._ratio(grid, constants)
        weight = jnp.maximum(jnp.abs(grid), 1e-3 * (high - low))
        factor = self.purpose.factor(memory, weight, self.record.link)
        inner = jnp.abs(grid) >= weight  # at w = 0 the ratio to |w| is a limit
        sized = jnp.where(inner & (ratio > 0), factor * jnp.where(ratio > 0, ratio, 1.0) ** self.purpose.power, 1e-30)
        if self.family.bound:
            names = self.record.constant_names
            arguments = tuple(sorted(parse(self.family.bound).free_symbols, key=lambda one: names.index(one.name)))
            slope = lower(parse(self.family.bound), arguments)(*(constants[one.name] for one in arguments))
        else:
            far = max(abs(low), abs(high)) * jnp.geomspace(1e-3, _FAR, points)
            slope = jnp.maximum(ratio.max(), self._ratio(jnp.concatenate([-far, far]), constants)[0].max())
        return jnp.log(jnp.maximum(sized, 1e-30)), jnp.log(memory), slope

    def _ratio(self, weight: Array, constants: Mapping[str, Array]) -> tuple[Array, Array]:
        """|d ln tau/dw| and tau, with lambda >= 0 in discrete time."""
        margin = self.record.margin(weight, **constants)
        slope = jax.vmap(jax.grad(lambda w: self.record.eigenvalue(w, **constants)))(weight)
        return jnp.abs(slope) / margin, 1 / margin

    def loss(self, logs: Array, sharpness: Array) -> Array:
        """ln of the smoothed supremum over the least possible one, and the penalties."""
        constants = self.named(jnp.exp(logs))
        levels, memory, slope = self.curves(constants, POINTS)
        supremum = jax.nn.logsumexp(sharpness * (levels - jnp.log(self.least))) / sharpness
        broken = [memory.min() - np.log(self.memory[0]) + SLACK, np.log(self.memory[1]) + SLACK - memory.max()]
        if np.isfinite(self.slope):
            broken.append(jnp.log(slope / self.slope) + SLOPE_SLACK)
        return supremum + _PENALTY * sum(jax.nn.relu(one) for one in broken)

    def named(self, values: Array) -> dict[str, Array]:
        """Return values by the names of the constants."""
        return dict(zip(self.record.constant_names, values, strict=True))

    def measured(self, constants: Mapping[str, float], points: int) -> dict[str, float]:
        """Supremum, range of memory and slope of one map, on a fine grid."""
        own = {name: jnp.asarray(value, jnp.result_type(float)) for name, value in constants.items()}
        return dict(zip(("level", "shortest", "longest", "slope"), map(float, self._numbers(own, points)), strict=True))

    @partial(jax.jit, static_argnums=(0, 2))
    def _numbers(self, constants: Mapping[str, Array], points: int) -> tuple[Array, Array, Array, Array]:
        levels, memory, slope = self.curves(constants, points)
        return jnp.exp(levels.max()), jnp.exp(memory.min()), jnp.exp(memory.max()), slope
