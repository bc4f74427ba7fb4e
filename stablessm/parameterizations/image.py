"""The image of a map: the decays it can reach, as an interval that prints as mathematicians write it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """An interval of real numbers.

    Attributes:
        lower: left end.
        upper: right end.
        lower_closed: whether the left end belongs to it.
        upper_closed: whether the right end belongs to it.

    Example:
        >>> print(Interval(0.0, 2.0, upper_closed=True), 2.0 in Interval(0.0, 2.0))
        (0, 2] False
    """

    lower: float
    upper: float
    lower_closed: bool = False
    upper_closed: bool = False

    def __contains__(self, value: float) -> bool:
        """Whether a number lies in the interval."""
        above = value >= self.lower if self.lower_closed else value > self.lower
        below = value <= self.upper if self.upper_closed else value < self.upper
        return bool(above and below)

    def __str__(self) -> str:
        """The interval with its brackets."""

        def text(end: float) -> str:
            return f"{end:.10g}" if math.isfinite(end) else ("inf" if end > 0 else "-inf")

        left, right = "[" if self.lower_closed else "(", "]" if self.upper_closed else ")"
        return f"{left}{text(self.lower)}, {text(self.upper)}{right}"
