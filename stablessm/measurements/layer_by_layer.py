"""Every recurrent layer of a network by itself: gradients, memory, perturbation and the rate it survives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from stablessm.measurements.base import Measurement, Variable, ascending, distinct
from stablessm.measurements.training import TRAINING, TrainingSettings

ABLATIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "gate": {"mixing": "linear"},
    "norm": {"norm": "none"},
    "residual": {"residual": False},
    "dropout": {"dropout": 0.0},
}
"""What is taken out of a block -> what of its architecture that replaces."""


class LayerByLayerSettings(TrainingSettings):
    """What is trained on what, and what is measured of its layers.

    Attributes:
        measured: beside the gradients along training: "memory", "perturbation", "rates" (of all weights together) and
            "layer_rates" (of one layer's raw weights at a time).
        memory_horizon: steps of the memory functions.
        repeat: directions of a perturbation, each a number that fixes it together with the seed.
        beta: sizes of a perturbation, ascending.
        ball: "inf" or "block_l2", the norm in which a layer's raw weights move by beta.
        probes: test rows over which the outputs of a perturbed network are compared.
        lowest_rate: first learning rate that is tried.
        highest_rate: last one.
        scan: number of rates of the upward scan.
        bisections: halvings of its first unstable interval on the log scale.
        rate_steps: steps of the runs that are tried.
    """

    measured: tuple[Literal["memory", "perturbation", "rates", "layer_rates"], ...] = (
        "memory",
        "perturbation",
        "rates",
        "layer_rates",
    )
    memory_horizon: int = Field(64, ge=2, le=10**6)
    repeat: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = tuple(range(8))
    beta: tuple[Annotated[float, Field(ge=0, le=1e3)], ...] = (0.0, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0)
    ball: Literal["inf", "block_l2"] = "inf"
    probes: int = Field(32, ge=1, le=10**6)
    lowest_rate: float = Field(1e-3, gt=0, le=1e3)
    highest_rate: float = Field(1e2, gt=0, le=1e3)
    scan: int = Field(11, ge=2, le=1000)
    bisections: int = Field(2, ge=0, le=40)
    rate_steps: int = Field(100, ge=1, le=10**7)

    _distinct = field_validator("repeat")(distinct)

    _ascending = field_validator("beta")(ascending)

    @field_validator("measured")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return distinct(value) if value else value

    @model_validator(mode="after")
    def _rates_ordered(self) -> LayerByLayerSettings:
        if self.lowest_rate >= self.highest_rate:
            raise ValueError("lowest_rate must be smaller than highest_rate")
        if "layer_rates" in self.measured and not self.recurrent_multiplier:
            raise ValueError("the rate of a layer needs a recurrent_multiplier above 0, or `measured` no 'layer_rates'")
        return self


def _rates(of: str, prefix: str, *dims: str) -> dict[str, Variable]:
    return {
        f"{prefix}largest_stable_learning_rate": Variable(
            f"largest stable learning rate {of}, the top of the first run of stable ones, 0 where none is", dims=dims
        ),
        f"{prefix}smallest_unstable_learning_rate": Variable(
            f"unstable rate {of} above it, infinite where none is, the lowest tried where no rate is stable", dims=dims
        ),
        f"{prefix}reentry": Variable(
            f"a rate {of} is stable again above the first unstable one", dims=dims, dtype="int8", flags=("no", "yes")
        ),
    }


def _variables(settings: LayerByLayerSettings) -> dict[str, Variable]:
    alone = ("repeat", "beta")
    found = {
        **{name: one for name, one in TRAINING.variables(settings).items() if not name.startswith("validation")},
        "gradient_constant": Variable(
            "fitted C, gradient over |f'|/margin^2 of a layer's raw weights", dims=("step", "layer", "quantile")
        ),
    }
    if "memory" in settings.measured:
        name = "memory function up to the layer"
        found["initial_memory_function"] = Variable(f"{name}, before training", dims=("layer", "time"))
        found["memory_function"] = Variable(f"{name}, after training", dims=("layer", "time"))
    if "perturbation" in settings.measured:
        found |= {
            "perturbation_distance": Variable(
                "largest change of an output where one layer's raw weights move", dims=("layer", *alone)
            ),
            "largest_perturbation_distance": Variable(
                "largest change of an output, largest over directions and smaller beta", dims=("layer", "beta")
            ),
            "perturbed_margin": Variable(
                "smallest margin of the eigenvalues of the layer that moves", dims=("layer", *alone)
            ),
            "perturbed_loss": Variable("loss on the probes where one layer's raw weights move", dims=("layer", *alone)),
        }
    if "rates" in settings.measured:
        found |= _rates("of all weights", "")
    if "layer_rates" in settings.measured:
        found |= _rates("of the layer's raw weights alone", "layer_", "layer")
    return found


LAYER_BY_LAYER = Measurement(
    name="layer_by_layer",
    summary="gradient law, memory, perturbation and largest stable rate of each layer of a network trained on data",
    reference="Wang and Li, StableSSM (ICML 2024), Theorem 3.4, which applies layer by layer, and section 4",
    axes={**TRAINING.axes, "ablation": ("none",)},
    settings=LayerByLayerSettings,
    variables=_variables,
    program="stablessm.measurements.layer_by_layer_program:layer_by_layer",
    trains_networks=True,
)
