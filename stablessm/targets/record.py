"""The record of a target with a formula: one text rho(t), from which samples, labels and closed forms come."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stablessm.parameterizations.errors import ParameterizationError
from stablessm.parameterizations.grammar import KERNEL_FUNCTIONS, constant_names
from stablessm.parameterizations.numbers import finite, quoted
from stablessm.targets.errors import TargetError

if TYPE_CHECKING:
    import numpy as np

TIME = "t"


@dataclass(frozen=True)
class Target:
    """A memory kernel rho(t) of a linear, causal, time-homogeneous functional, on t >= 0.

    Attributes:
        name: key in `TARGETS`, or the label of a user's target.
        formula: rho(t), in the grammar of maps with the variable t and the functions sin, cos, airy and step besides.
        values: constants as sorted (name, value) pairs; read them as `.constants`.
        horizon: number of samples of the published experiments.
        step_size: distance of the samples there.
        span: least time the samples must cover for the kernel to show what it is.
        reference: where it is used.

    Example:
        >>> Target.from_formula("exp(-r*t)", constants={"r": 2.0}).kernel(2).round(6).tolist()
        [1.0, 0.135335]
    """

    name: str
    formula: str
    values: tuple[tuple[str, float], ...] = ()
    horizon: int = 100
    step_size: float = 1.0
    span: float = 0.0
    reference: str = "user"

    @staticmethod
    def from_formula(formula: str, *, constants: Mapping[str, float] | None = None, name: str | None = None) -> Target:
        """Make a target from a formula, every constant given.

        Raises:
            TargetError: the formula does not parse, or a constant is missing, unknown, or no positive finite number.
        """
        target = Target(name or formula, formula).replace(constants=constants or {})
        missing = [one for one in target.constant_names if one not in target.constants]
        if missing:
            raise TargetError(f"the target {formula!r} needs a value for {', '.join(missing)}")
        return target

    @property
    def constants(self) -> dict[str, float]:
        """Values of the constants, by name."""
        return dict(self.values)

    @property
    def constant_names(self) -> tuple[str, ...]:
        """Names of the constants in the formula.

        Raises:
            TargetError: the formula does not parse.
        """
        try:
            return constant_names(self.formula, TIME, KERNEL_FUNCTIONS)
        except ParameterizationError as error:
            raise TargetError(str(error)) from None

    def replace(self, *, constants: Mapping[str, float]) -> Target:
        """Return the target with other values of some constants.

        Raises:
            TargetError: a constant that does not occur in the formula, or a value that is not positive and finite.

        Example:
            >>> from stablessm.targets import TARGETS
            >>> TARGETS["polynomial"].replace(constants={"p": 2.0}).kernel(2).tolist()
            [1.0, 0.25]
        """
        numbers = {name: finite(value) for name, value in constants.items()}
        for name, value in constants.items():
            if name not in self.constant_names:
                known = ", ".join(self.constant_names) or "none"
                raise TargetError(f"the target {self.name!r} has no constant {name!r}; its constants are: {known}")
            if numbers[name] is None or numbers[name] <= 0:
                raise TargetError(
                    f"the constant {name!r} of the target {self.name!r} must be a positive finite number, "
                    f"but got {quoted(value)}"
                )
        return dataclasses.replace(self, values=tuple(sorted({**self.constants, **numbers}.items())))

    def kernel(self, length: int | None = None, *, step_size: float | None = None) -> np.ndarray:
        """Return rho(k step_size) for k = 0 .. length - 1, shape (length,), float64.

        Args:
            length: number of samples; the published horizon by default.
            step_size: distance of the samples; the published one by default.

        Raises:
            TargetError: the length is not positive, the formula does not parse, or a sample is not a finite real
                number.
        """
        import numpy as np

        from stablessm.targets.evaluate import evaluate

        length = self.horizon if length is None else length
        if length < 1:
            raise TargetError(f"a kernel has at least one sample, but got length {length}")
        times = np.arange(length) * (self.step_size if step_size is None else step_size)
        samples = evaluate(self, times)
        bad = np.flatnonzero(~np.isfinite(samples))
        if bad.size:
            raise TargetError(f"the target {self.name!r} is not a finite real number at t = {times[bad[0]]:g}")
        return samples

    def check(self, length: int, step_size: float) -> None:
        """Refuse samples from which nothing can be learnt, before anything runs.

        Args:
            length: number of samples.
            step_size: distance of the samples.

        Raises:
            TargetError: the samples cover less than `span`, are all zero, or cannot be had.
        """
        if length * step_size < self.span:
            raise TargetError(
                f"the target {self.name!r} needs a horizon of at least {self.span:g} (samples x step size), "
                f"but got {length} x {step_size:g}"
            )
        if self.reference == "user" and not self.kernel(length, step_size=step_size).any():
            raise TargetError(f"the target {self.name!r} is zero at all {length} samples: there is nothing to fit")
