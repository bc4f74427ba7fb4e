"""Gradient descent where its stability is known: on three potentials, and on the loss of one mode by every map."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable

BEHAVIOURS = ("settles", "wanders", "diverges")


class DescentSettings(Settings):
    """Where gradient descent starts, and how long it runs.

    Attributes:
        steps: number of steps.
        starts: starting points, in units of the distance that decides (`stablessm.theory.descent`).
    """

    steps: int = Field(200, ge=8, le=10**6)
    starts: tuple[float, ...] = (0.5, 0.98, 1.02)

    @model_validator(mode="after")
    def _positive(self) -> DescentSettings:
        if not self.starts or min(self.starts) <= 0:
            raise ValueError("starts must hold numbers above 0")
        return self


class LargestStepSettings(Settings):
    """The fit of one mode by gradient descent, started close to its optimum.

    Attributes:
        slowest_decay: smallest decay alpha of the target, of a log-spaced grid.
        fastest_decay: largest one.
        decays: points of that grid.
        shown_decay: alpha whose runs are stored step by step.
        step_ratios: steps of gradient descent, over the largest stable one.
        start: distance of the weight from the optimum at the start.
        steps: number of steps.
    """

    slowest_decay: float = Field(1e-3, gt=0)
    fastest_decay: float = Field(1.0, gt=0)
    decays: int = Field(25, ge=2, le=10**5)
    shown_decay: float = Field(0.05, gt=0)
    step_ratios: tuple[float, ...] = (0.98, 1.02)
    start: float = Field(1e-7, gt=0)
    steps: int = Field(100, ge=1, le=10**6)

    @model_validator(mode="after")
    def _ordered(self) -> LargestStepSettings:
        if self.slowest_decay >= self.fastest_decay:
            raise ValueError("slowest_decay must be smaller than fastest_decay")
        if not self.step_ratios or min(self.step_ratios) <= 0:
            raise ValueError("step_ratios must hold numbers above 0")
        return self


DESCENT = Measurement(
    name="descent",
    summary="gradient descent on x^4, x^2 and sqrt|x|: where it settles, wanders or diverges",
    reference="this project; the Lipschitz criterion is Eq. 11 of Wang and Li, StableSSM (ICML 2024)",
    axes={"learning_rate": None},
    settings=DescentSettings,
    variables=lambda _: {
        "distance": Variable("distance from 0", "distance that decides", dims=("potential", "start", "step")),
        "behaviour": Variable("what the run does", dims=("potential", "start"), dtype="int8", flags=BEHAVIOURS),
        "deciding_distance": Variable("distance from 0 that decides", dims=("potential",)),
    },
    program="stablessm.measurements.descent_programs:descent",
)

LARGEST_STEP = Measurement(
    name="largest_step",
    summary="largest stable gradient-descent step of one mode by its memory length, tried just below and above",
    reference="this project (curvature criterion); Wang and Li, StableSSM (ICML 2024), section 3.3",
    axes={"parameterization": None, "link": ("continuous",), "constant_a": (), "constant_b": ()},
    settings=LargestStepSettings,
    variables=lambda _: {
        "largest_stable_step": Variable("largest stable step, 2 / curvature at the optimum", dims=("decay",)),
        "growth": Variable("factor of the distance to the optimum in one step", dims=("step_ratio", "decay")),
        "shown_step": Variable("largest stable step at the decay that is shown"),
        "distance": Variable("distance to the optimum", "its start", dims=("step_ratio", "step")),
        "shown_decay": Variable("decay whose runs are stored step by step"),
    },
    program="stablessm.measurements.descent_programs:largest_step",
    joins_maps=True,
)
