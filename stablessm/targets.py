"""Target memory kernels rho(t), as data: what a linear functional remembers of its past.

Each target is a closed form on t >= 0, written once against an array namespace, with the horizon and the step on which
it is meant to be sampled. This module imports no array library until a kernel is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_STABLESSM = "Wang and Li, StableSSM (ICML 2024), section 4"


@dataclass(frozen=True)
class Target:
    """A memory kernel rho(t) of a linear, causal, time-homogeneous functional.

    Attributes:
        name: key in `TARGETS`.
        formula: rho(t) as text, for labels.
        function: (namespace, times) -> rho(times), with NumPy or a library that mirrors it as namespace.
        horizon: number of samples of the published experiments.
        step_size: distance of the samples.
        reference: where it is used.
    """

    name: str
    formula: str
    function: Callable[[Any, Any], Any]
    horizon: int = 100
    step_size: float = 1.0
    reference: str = _STABLESSM

    def kernel(self, length: int | None = None, *, step_size: float | None = None) -> np.ndarray:
        """Return rho(k step_size) for k = 0 .. length - 1, shape (length,), float64.

        Args:
            length: number of samples; the published horizon by default.
            step_size: distance of the samples; the published one by default.

        Raises:
            ValueError: the length is not a positive integer.

        Example:
            >>> TARGETS["exponential"].kernel(2).round(6).tolist()
            [1.0, 0.367879]
        """
        import numpy as np

        length = self.horizon if length is None else length
        if length < 1:
            raise ValueError(f"a kernel has at least one sample, but got length {length}")
        times = np.arange(length) * (self.step_size if step_size is None else step_size)
        return np.asarray(self.function(np, times), np.float64)


def _airy(_: Any, t: Any) -> Any:
    from scipy.special import airy

    return airy(t - 6.0)[0]


_ALL = (
    Target("exponential", "exp(-t)", lambda np, t: np.exp(-t)),
    Target("polynomial", "(1 + t)^-1.1", lambda np, t: (1.0 + t) ** -1.1),
    Target("slow_polynomial", "(1 + 0.1 t)^-1.1", lambda np, t: (1.0 + 0.1 * t) ** -1.1),
    Target("sine", "sin(t)", lambda np, t: np.sin(t)),
    Target("shift", "1 for 9 < t < 11", lambda np, t: ((t > 9.0) & (t < 11.0)) * 1.0),
    Target("two_part", "exp(-t) + exp(-(t - 9)^2)", lambda np, t: np.exp(-t) + np.exp(-((t - 9.0) ** 2))),
    Target("airy", "Ai(t - 6)", _airy),
)

TARGETS: Mapping[str, Target] = MappingProxyType({one.name: one for one in _ALL})
