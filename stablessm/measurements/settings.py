"""Settings that several measurements share; light, for declarations are checked before anything heavy is imported."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stablessm.measurements.base import Settings


class KernelFitSettings(Settings):
    """Fit of a target memory kernel by a linear RNN.

    Attributes:
        steps: optimiser steps.
        horizon: T, number of samples of the kernel.
        step_size: distance of the samples, dt of the zero-order hold in continuous time.
        batch: sequences in a batch (sampled and Gram form).
        loss: "white_noise" (closed form), "gram" (the exact sampled loss) or "sampled".
        slowest_decay: smallest decay r of the start, per unit time; a discrete map starts at e^-r.
        fastest_decay: largest decay of the start; decays are log-uniform in between.
    """

    steps: int = Field(500, ge=1, le=10**7)
    horizon: int = Field(100, ge=2, le=10**6)
    step_size: float = Field(1.0, gt=0, le=1e3)
    batch: int = Field(128, ge=1, le=10**6)
    loss: Literal["white_noise", "gram", "sampled"] = "white_noise"
    slowest_decay: float = Field(0.01, gt=0, le=1e3)
    fastest_decay: float = Field(0.9, gt=0, le=1e3)

    @property
    def time_weighted(self) -> bool:
        """Whether the loss weights late times more (`losses.time_weights`)."""
        return False

    @property
    def has_phases(self) -> bool:
        """Whether eigenvalues have a free phase each; real unless a measurement offers the choice."""
        return False

    @model_validator(mode="after")
    def _ordered(self) -> KernelFitSettings:
        if self.slowest_decay > self.fastest_decay:
            raise ValueError(
                f"slowest_decay must not be larger than fastest_decay, but got {self.slowest_decay:g} and "
                f"{self.fastest_decay:g}"
            )
        return self


class RecordedFitSettings(KernelFitSettings):
    """A fit that is watched on the way.

    Attributes:
        records: how many steps are recorded, evenly spaced from the first.
    """

    records: int = Field(50, ge=1, le=10**5)


class PhasedSettings(Settings):
    """A part of settings: eigenvalues may be complex. Name it before the settings it goes with.

    Attributes:
        complex: whether eigenvalues have a free phase each (`initializations`); a kernel that oscillates needs them.
    """

    complex: bool = False

    @property
    def has_phases(self) -> bool:
        """Whether eigenvalues have a free phase each."""
        return self.complex

    @property
    def eigenvalue_dtype(self) -> str:
        """NumPy dtype name of an eigenvalue."""
        return "complex64" if self.complex else "float32"
