"""The largest stable learning rate of a map, found by bisection inside one compiled program."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES
from stablessm.measurements.settings import KernelFitSettings, PhasedSettings


class BisectionSettings(PhasedSettings, KernelFitSettings):
    """Where and how finely the largest stable learning rate is sought, and whether eigenvalues are complex.

    Attributes:
        lowest_rate: first learning rate tried.
        highest_rate: last one tried.
        scan: number of rates of the upward scan, log-spaced, that brackets the first unstable one.
        bisections: halvings of the bracket on the log scale.
    """

    lowest_rate: float = Field(1e-4, gt=0, le=1e3)
    highest_rate: float = Field(1e2, gt=0, le=1e3)
    scan: int = Field(13, ge=2, le=1000)
    bisections: int = Field(6, ge=0, le=40)

    @model_validator(mode="after")
    def _rates_ordered(self) -> BisectionSettings:
        if self.lowest_rate >= self.highest_rate:
            raise ValueError("lowest_rate must be smaller than highest_rate")
        return self


LARGEST_RATE = Measurement(
    name="largest_rate",
    summary="largest stable learning rate by an upward scan and bisection of its first unstable interval",
    reference="Wang and Li, StableSSM (ICML 2024), section 4.4",
    axes={name: values for name, values in KERNEL_FIT_AXES.items() if name != "learning_rate"},
    settings=BisectionSettings,
    variables=lambda settings: {
        "largest_stable_learning_rate": Variable(
            "largest stable learning rate, the top of the first run of stable ones, 0 where none is"
        ),
        "smallest_unstable_learning_rate": Variable(
            "unstable rate above it, infinite where none is, the lowest tried where no rate is stable"
        ),
        "reentry": Variable(
            "stable again above the first unstable rate of the scan that lies above a stable one",
            dtype="int8",
            flags=("no", "yes"),
        ),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",), dtype=settings.eigenvalue_dtype),
    },
    program="stablessm.measurements.fit_programs:largest_rate",
    joins_maps=True,
)
