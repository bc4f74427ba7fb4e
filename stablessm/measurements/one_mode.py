"""One mode that learns one decay: where it settles, cycles or breaks, by learning rate and memory length."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable

BEHAVIOURS = ("settles", "approaches", "cycles", "forgets", "unstable", "outside_image")
"""What a run does over its last tenth; see `one_mode_program.one_mode`."""


class OneModeSettings(Settings):
    """The fit of one mode, of which the recurrent weight alone is trained.

    Attributes:
        shortest_memory: smallest memory length 1/alpha of the target, of a log-spaced grid.
        longest_memory: largest one.
        memory_lengths: points of that grid.
        start_ratios: decays at the start, over that of the target.
        steps: number of optimiser steps.
    """

    shortest_memory: float = Field(1.25, gt=0)
    longest_memory: float = Field(1e3, gt=0)
    memory_lengths: int = Field(30, ge=2, le=10**5)
    start_ratios: tuple[float, ...] = (0.99, 0.5)
    steps: int = Field(1000, ge=10, le=10**6)

    @model_validator(mode="after")
    def _ordered(self) -> OneModeSettings:
        if self.shortest_memory >= self.longest_memory:
            raise ValueError("shortest_memory must be smaller than longest_memory")
        if not self.start_ratios or min(self.start_ratios) <= 0:
            raise ValueError("start_ratios must hold numbers above 0")
        return self


ONE_MODE = Measurement(
    name="one_mode",
    summary="training of one decay: settles, cycles, forgets or unstable, by learning rate and memory length",
    reference="this project (curvature criterion); Wang and Li, StableSSM (ICML 2024), section 3.3",
    axes={
        "parameterization": None,
        "link": ("continuous",),
        "optimizer": ("gradient_descent",),
        "learning_rate": None,
        "constant_a": (),
        "constant_b": (),
    },
    settings=OneModeSettings,
    variables=lambda _: {
        "behaviour": Variable(
            "what training does", dims=("start_ratio", "memory_length"), dtype="int8", flags=BEHAVIOURS
        ),
        "largest_stable_step": Variable(
            "learning rate that the curvature at the optimum allows, nan where the optimiser rescales the gradient",
            dims=("memory_length",),
        ),
        "final_distance": Variable(
            "decay at the end over that of the target, less 1", dims=("start_ratio", "memory_length")
        ),
        "smallest_eigenvalue": Variable("smallest eigenvalue on the way", dims=("start_ratio", "memory_length")),
    },
    program="stablessm.measurements.one_mode_program:one_mode",
    joins_maps=True,
)
