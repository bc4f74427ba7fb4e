r"""Learned maps: the constants of a family, optimised for a criterion under a bound on |d ln|f|/dw|.

The bound K is enough for Definition 3.2: g(beta) <= e^{K beta} - 1. The family of `units` multiplies memory lengths,

    1/s = b (1 + (w/h)^2)^p (1 + (w/k)^2)^q,

a bounded unit 2 x/(1 + x^2) of a network for d ln s/dw to each factor, integrated. A single unit with p = 1 is `best`,
a = b/h^2. Any formula with constants is a family too. The bound is kept on a scan of the weights while a map is
learned, and then proved for every weight where enclosures can (slope.py).

The supremum over a grid of weights is first smoothed (log-sum-exp, ever sharper) with the conditions (the range of
memory, the bound) as exact penalties, and descended from several starts by Adam from Optax, in logarithms of constants
and criteria alike. The ends are then polished by sequential quadratic programming, which has the supremum and the
conditions as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from scipy.optimize import minimize

from stablessm.design.errors import DesignError, Unsolved
from stablessm.design.purposes import PURPOSES, Purpose, least_possible
from stablessm.design.slope import enclosures_for
from stablessm.design.solution import Design
from stablessm.parameterizations import Parameterization
from stablessm.parameterizations.grammar import parse
from stablessm.parameterizations.lowering import lower

MEMORY, WEIGHTS, SLOPE = (2.0, 1000.0), (0.0, 10.0), 2.0
_STEPS, _STARTS, _POLISHED, _POINTS, _CHECKED = 400, 4, 2, 201, 4001
_RATES, _SHARPNESS, _PENALTY = (5e-2, 1e-3), (10.0, 1000.0), 30.0
_SLACK = 2e-4
"""Relative reserve in the range of memory, so that constants of six digits keep it."""
_SLOPE_SLACK = 1e-3
"""The same in the bound on the slope, which is scanned more finely in the end."""
_FREE = 4.0
"""How far the polish may take the logarithm of a constant."""
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


def learn(
    purpose: str,
    *,
    family: str = "units",
    memory: tuple[float, float] = MEMORY,
    weights: tuple[float, float] = WEIGHTS,
    slope: float = SLOPE,
    link: str = "continuous",
    seed: int = 0,
    name: str | None = None,
) -> Design:
    """Return the map of a family with the least supremum of a criterion.

    Args:
        purpose: a key of `PURPOSES`.
        family: a key of `FAMILIES`, or a formula whose constants are learned.
        memory: shortest and longest memory length 1/margin that the map must reach.
        weights: interval of weights on which it must reach them, and over which the supremum is taken.
        slope: bound on |d ln|f|/dw|; infinite for none.
        link: how the decay becomes an eigenvalue.
        seed: of the starts.
        name: the map's label; the formula by default.

    Raises:
        DesignError: a range, bound or purpose that cannot be meant, or that no map can satisfy.
        ParameterizationError: the formula does not parse, or the link is unknown.
        Unsolved: no map of the family was found that keeps the conditions.

    Example:
        >>> learned = learn("gradient-over-weight", family="best", memory=(1.0, 101.0), slope=float("inf"))
        >>> {name: round(value, 2) for name, value in learned.map.constants.items()}
        {'a': 1.0, 'b': 1.0}

    References: Wang and Li, StableSSM (ICML 2024), Definition 3.2; the bound on the slope, this project.
    """
    aim = _checked(purpose, memory, weights, slope, link)
    own = FAMILIES.get(family, Family(family))
    record = Parameterization.from_formula(own.formula, link=link)
    if not record.constant_names:
        raise DesignError(f"the family {own.formula!r} has no constant that could be learned.")
    least = least_possible(aim, link, memory, weights, slope)
    task = _Task(record, own, aim, memory, weights, slope, least)
    constants = _polished(task, _descended(task, seed))
    found = task.measured(constants, _CHECKED)
    limit = f" with |d ln|f|/dw| <= {slope:g}" if np.isfinite(slope) else ""
    lengths = f"memory lengths from {memory[0]:g} to {memory[1]:g}"
    asked = f"weights from {weights[0]:g} to {weights[1]:g} that carry {lengths}{limit}"
    if not _keeps(found, memory, slope):
        raise Unsolved(
            f"no map of the family {own.formula} was found for {asked}: the closest has memory lengths from "
            f"{found['shortest']:.4g} to {found['longest']:.4g} and |d ln|f|/dw| up to {found['slope']:.4g}"
        )
    learned = Parameterization.from_formula(record.formula, constants=constants, link=link, name=name)
    bound = slope if np.isfinite(slope) else float(f"{1.001 * found['slope']:.4g}")
    enclosures = enclosures_for(learned, bound)
    proved = (
        f"|d ln|f|/dw| <= {found['slope']:.6g} on a scan of the weights, not proved"
        if enclosures is None
        else f"|d ln|f|/dw| <= {bound:g} for every weight, proved by {enclosures} enclosures, so that "
        f"g(beta) <= exp({bound:g}*beta) - 1 in Definition 3.2"
    )
    return Design(
        map=learned,
        question=f"least supremum of {aim.meaning} over {asked}",
        answer=f"supremum {found['level']:.6g}, {found['level'] / least:.4g} times the least that any map can have "
        f"({least:.6g})",
        checked=f"memory lengths {found['shortest']:.6g} to {found['longest']:.6g} at {_CHECKED} weights; {proved}",
    )


def _checked(purpose, memory, weights, slope, link) -> Purpose:
    from difflib import get_close_matches

    if purpose not in PURPOSES:
        near = get_close_matches(str(purpose), PURPOSES, 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise DesignError(f"a criterion must be one of {', '.join(PURPOSES)}, but got {purpose!r}{hint}.")
    for what, (low, high), least in (("memory", memory, 0.0), ("weights", weights, -np.inf)):
        if not (least < low < high and max(abs(low), abs(high)) <= 1e9):
            positive = " and LOW > 0" if least == 0 else ""
            raise DesignError(
                f"{what}: two numbers LOW,HIGH of size at most 1e9 with LOW < HIGH{positive} are wanted, but got "
                f"{low:g},{high:g}."
            )
    if link != "continuous" and memory[0] < 1 + 10 * _SLACK:
        raise DesignError(f"memory: in discrete time a memory length must be above 1 step, but got {memory[0]:g}.")
    needed = np.log(memory[1] / memory[0]) / (weights[1] - weights[0])
    if not slope > needed:
        raise DesignError(
            f"slope: reaching memory lengths from {memory[0]:g} to {memory[1]:g} on weights from {weights[0]:g} to "
            f"{weights[1]:g} takes a slope of ln|f| above {needed:.4g}, but got {slope:g}."
        )
    return PURPOSES[purpose]


@dataclass(frozen=True, eq=False)
class _Task:
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
        levels, memory, slope = self.curves(constants, _POINTS)
        supremum = jax.nn.logsumexp(sharpness * (levels - jnp.log(self.least))) / sharpness
        broken = [memory.min() - np.log(self.memory[0]) + _SLACK, np.log(self.memory[1]) + _SLACK - memory.max()]
        if np.isfinite(self.slope):
            broken.append(jnp.log(slope / self.slope) + _SLOPE_SLACK)
        return supremum + _PENALTY * sum(jax.nn.relu(one) for one in broken)

    def named(self, values: Array) -> dict[str, Array]:
        return dict(zip(self.record.constant_names, values, strict=True))

    def measured(self, constants: Mapping[str, float], points: int) -> dict[str, float]:
        """Supremum, range of memory and slope of one map, on a fine grid."""
        own = {name: jnp.asarray(value, jnp.result_type(float)) for name, value in constants.items()}
        return dict(zip(("level", "shortest", "longest", "slope"), map(float, self._numbers(own, points)), strict=True))

    @partial(jax.jit, static_argnums=(0, 2))
    def _numbers(self, constants: Mapping[str, Array], points: int) -> tuple[Array, Array, Array, Array]:
        levels, memory, slope = self.curves(constants, points)
        return jnp.exp(levels.max()), jnp.exp(memory.min()), jnp.exp(memory.max()), slope


def _descended(task: _Task, seed: int) -> np.ndarray:
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


def _polished(task: _Task, ends: np.ndarray) -> dict[str, float]:
    """The best of the ends, each brought to where the conditions hold with equality that hold it back.

    The least t with t - ln Q(w) >= 0 on the grid, and the conditions >= 0: sequential quadratic programming.
    """

    def conditions(logs: Array) -> Array:
        levels, memory, slope = task.curves(task.named(jnp.exp(logs[:-1])), _POINTS)
        kept = [np.log(task.memory[0]) - _SLACK - memory.min(), memory.max() - np.log(task.memory[1]) - _SLACK]
        kept += [np.log(task.slope) - _SLOPE_SLACK - jnp.log(slope)] if np.isfinite(task.slope) else []
        return jnp.concatenate([logs[-1] + np.log(task.least) - levels, jnp.stack(kept)])

    value, slopes = jax.jit(conditions), jax.jit(jax.jacfwd(conditions))
    best, least = _rounded(task.named(np.exp(ends[0]))), np.inf
    for logs in ends[:_POLISHED]:
        reserve = np.asarray(value(np.append(logs, 0.0)), float)
        start = np.append(logs, -reserve[:_POINTS].min())
        found = minimize(
            lambda x: x[-1], start, jac=lambda x: np.eye(len(x))[-1], method="SLSQP",
            constraints={"type": "ineq", "fun": lambda x: np.asarray(value(x), float),
                         "jac": lambda x: np.asarray(slopes(x), float)},
            options={"maxiter": 100, "ftol": 1e-7},
            bounds=[*((one - _FREE, one + _FREE) for one in logs), (None, None)],
        )  # fmt: skip
        for end in (logs, found.x[:-1]):
            constants = _rounded(task.named(np.exp(end)))
            measured = task.measured(constants, _CHECKED)
            kept = _keeps(measured, task.memory, task.slope) and measured["level"] > (1 - _SLACK) * task.least
            if kept and measured["level"] < least:
                best, least = constants, measured["level"]
    return best


def _rounded(constants: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in constants.items()}


def _keeps(found: Mapping[str, float], memory: tuple[float, float], slope: float) -> bool:
    return (
        np.isfinite(found["longest"])
        and found["shortest"] <= memory[0] * (1 + 1e-5)
        and found["longest"] >= memory[1] * (1 - 1e-5)
        and (found["slope"] <= slope * (1 + 1e-6))
    )
