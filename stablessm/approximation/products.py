"""Inner products of kernels under white input, in closed form where there is one.

A linear model driven by unit white noise errs by int (rho - rho_hat)^2 in the mean square, and started from rest and
averaged over T by int_0^T (1 - t/T) (rho - rho_hat)^2; in discrete time these are sums over steps. With x = s_i + s_j,
q = e^{-x dt} and n steps, modes have the products

| horizon           | continuous                          | discrete                                    |
|-------------------|-------------------------------------|---------------------------------------------|
| infinite          | 1/x                                 | 1/(1 - q)                                   |
| finite            | (1 - e^{-xT})/x                     | (1 - q^n)/(1 - q)                           |
| finite, averaged  | 1/x - (1 - e^{-xT})/(x^2 T)         | 1/(1 - q) - q (1 - q^n)/(n (1 - q)^2)       |

and with a target over an infinite horizon its Laplace transform at s. Everything else is summed up at the nodes of
`nodes.py`. Squared errors from these closed forms stall near 2e-11 of the target's (differences of numbers near 1, of
transforms known to 16 digits); below 1e-5 in the norm the residual at the nodes is the one to trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from stablessm.approximation.modes import Modes
from stablessm.approximation.nodes import integral, total
from stablessm.targets import SampledTarget, Target, TargetError
from stablessm.targets.closed_forms import CLOSED_FORMS, norm, transform
from stablessm.targets.evaluate import evaluate

AnyTarget = Target | SampledTarget


@dataclass(frozen=True)
class InnerProduct:
    """Which errors count.

    Attributes:
        domain: "continuous" (an integral over time) or "discrete" (a sum over steps of `step_size`).
        horizon: T in units of time; None for an infinite one.
        averaged: whether time t counts 1 - t/T, as for a model that starts from rest and is averaged over T.
        step_size: dt of the discrete domain.

    Example:
        >>> InnerProduct("continuous").of_modes(np.array([0.5]), np.array([0.5])).tolist()
        [[1.0]]
    """

    domain: Literal["continuous", "discrete"]
    horizon: float | None = None
    averaged: bool = False
    step_size: float = 1.0

    @property
    def steps(self) -> int | None:
        """Number of steps of the discrete domain; None for infinitely many."""
        return None if self.horizon is None else round(self.horizon / self.step_size)

    def of_modes(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the products of e^{-s t} over two lists of decays, shape (first, second), in closed form."""
        x = np.add.outer(np.asarray(first, np.float64), np.asarray(second, np.float64))
        if self.domain == "continuous":
            if self.horizon is None:
                return 1 / x
            lost = -np.expm1(-x * self.horizon)
            if not self.averaged:
                return lost / x
            # 1/x - lost/(x^2 T), by its series where it cancels
            short = x * self.horizon
            series = self.horizon * (1 / 2 - short / 6 + short**2 / 24 - short**3 / 120)
            return np.where(short < 1e-3, series, (1 - lost / short) / x)
        step = -np.expm1(-x * self.step_size)  # 1 - q
        if self.steps is None:
            return 1 / step
        lost = -np.expm1(-x * self.step_size * self.steps)
        return lost / step if not self.averaged else (1 - (1 - step) * lost / (self.steps * step)) / step

    def with_target(self, target: AnyTarget, decay: np.ndarray) -> np.ndarray:
        """Return the products of a target with e^{-s t}, shape of `decay`: its Laplace transform where that is known.

        Raises:
            TargetError: as `samples` does.
        """
        if self._closed(target) and CLOSED_FORMS[target.formula].transform is not None:
            return np.array([float(transform(target, one)) for one in np.asarray(decay, np.float64)])
        times, weights, values = self.samples(target)
        return (weights * values) @ np.exp(-np.multiply.outer(times, decay))

    def square(self, target: AnyTarget) -> float:
        """Return the product of a target with itself.

        Raises:
            TargetError: as `samples` does.
        """
        if self._closed(target):
            return float(norm(target)) ** 2
        _, weights, values = self.samples(target)
        return float(weights @ values**2)

    def squared_error(self, target: AnyTarget, modes: Modes) -> float:
        """Return |rho - sum a_i e^{-s_i t}|^2 from the products: at least 0, right to about 1e-11 |rho|^2."""
        own = modes.amplitude @ self.of_modes(modes.decay, modes.decay) @ modes.amplitude
        return max(0.0, own - 2 * self.with_target(target, modes.decay) @ modes.amplitude + self.square(target))

    def error(self, target: AnyTarget, modes: Modes) -> float:
        """Return |rho - sum a_i e^{-s_i t}| from the residual at the nodes, right to rounding of the kernel itself."""
        times, weights, values = self.samples(target)
        return float(np.sqrt(weights @ (values - modes.kernel(times)) ** 2))

    def samples(self, target: AnyTarget) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return times, weights and the target there, shape (nodes,) each: what every fit is made on.

        Raises:
            TargetError: the target has no finite norm over this horizon, or no values between or beyond its samples.
        """
        return _samples(self, target)

    def _closed(self, target: AnyTarget) -> bool:
        whole = self.domain == "continuous" and self.horizon is None
        return whole and isinstance(target, Target) and target.formula in CLOSED_FORMS


@lru_cache(maxsize=32)
def _samples(product: InnerProduct, target: AnyTarget) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if isinstance(target, Target):
        if product.horizon is None and target.formula in CLOSED_FORMS and not np.isfinite(float(norm(target))):
            raise TargetError(
                f"the target {target.name!r} has no finite norm over an infinite horizon; choose a finite one"
            )

        def rho(times: np.ndarray) -> np.ndarray:
            return evaluate(target, times)

    if product.domain == "continuous":
        if not isinstance(target, Target):
            raise TargetError(f"the target {target.name!r} is known at its samples alone: choose the discrete domain")
        times, weights = integral(rho, product.horizon)
        values = rho(times)
    else:
        if product.horizon is None and not isinstance(target, Target):
            raise TargetError(f"the target {target.name!r} ends with its samples: choose a finite horizon")
        steps, weights = total(product.steps)
        times = steps * product.step_size
        values = rho(times) if isinstance(target, Target) else target.kernel(len(steps), step_size=product.step_size)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise TargetError(f"the target {target.name!r} is not a finite real number at t = {times[bad[0]]:g}")
    if product.averaged:
        weights = weights * (1 - times / product.horizon)
    return times, weights, values
