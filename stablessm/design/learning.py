r"""Learned maps: the constants of a family, optimised for a criterion under a bound on |d ln|f|/dw|.

The bound K is enough for Definition 3.2: g(beta) <= e^{K beta} - 1. The family of `units` multiplies memory lengths,

    1/s = b (1 + (w/h)^2)^p (1 + (w/k)^2)^q,

a bounded unit 2 x/(1 + x^2) of a network for d ln s/dw to each factor, integrated. A single unit with p = 1 is `best`,
a = b/h^2. Any formula with constants is a family too. The bound is kept on a scan of the weights while a map is
learned, and then proved for every weight where enclosures can (slope.py).

`objective.py` says what is optimised, `search.py` how.
"""

from __future__ import annotations

import numpy as np

from stablessm.design.errors import DesignError, Unsolved
from stablessm.design.objective import FAMILIES, SLACK, Family, Task
from stablessm.design.purposes import PURPOSES, Purpose, least_possible
from stablessm.design.search import CHECKED, descended, keeps, polished
from stablessm.design.slope import enclosures_for
from stablessm.design.solution import Design
from stablessm.parameterizations import Parameterization

MEMORY, WEIGHTS, SLOPE = (2.0, 1000.0), (0.0, 10.0), 2.0


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
    task = Task(record, own, aim, memory, weights, slope, least)
    constants = polished(task, descended(task, seed))
    found = task.measured(constants, CHECKED)
    limit = f" with |d ln|f|/dw| <= {slope:g}" if np.isfinite(slope) else ""
    lengths = f"memory lengths from {memory[0]:g} to {memory[1]:g}"
    asked = f"weights from {weights[0]:g} to {weights[1]:g} that carry {lengths}{limit}"
    if not keeps(found, memory, slope):
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
        checked=f"memory lengths {found['shortest']:.6g} to {found['longest']:.6g} at {CHECKED} weights; {proved}",
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
    if link != "continuous" and memory[0] < 1 + 10 * SLACK:
        raise DesignError(f"memory: in discrete time a memory length must be above 1 step, but got {memory[0]:g}.")
    needed = np.log(memory[1] / memory[0]) / (weights[1] - weights[0])
    if not slope > needed:
        raise DesignError(
            f"slope: reaching memory lengths from {memory[0]:g} to {memory[1]:g} on weights from {weights[0]:g} to "
            f"{weights[1]:g} takes a slope of ln|f| above {needed:.4g}, but got {slope:g}."
        )
    return PURPOSES[purpose]
