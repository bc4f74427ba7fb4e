"""S4 layers on a memory: trained, then perturbed by beta in all weights, as Fig. 1 does with plain linear RNNs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from stablessm.measurements.base import Measurement, Settings, Variable, ascending, distinct
from stablessm.measurements.perturbation import PUBLISHED_BETA


class LayerPerturbationSettings(Settings):
    """One channel of a layer, its training and what is perturbed.

    Attributes:
        layer: "s4", "s4d" or "dss".
        width: orders m of the real system, even.
        steps: Adam steps on the squared error of the kernel, late times weighted more as the published runs do.
        horizon: samples of the target that are fitted.
        shortest_step: smallest step size the layer starts with, dt of one sample.
        longest_step: largest one.
        perturbed: "recurrent" (of S4 Lambda, P, B and the step) or "all" weights.
        error_horizon: steps over which the error is taken, ascending.
        repeat: number of random directions, each within the unit cube.
        beta: sizes of the perturbation, ascending.
    """

    layer: Literal["s4", "s4d", "dss"] = "s4"
    width: tuple[Annotated[int, Field(ge=2, le=4096, multiple_of=2)], ...] = (4, 8, 16, 32, 64)
    steps: int = Field(2000, ge=1, le=10**7)
    horizon: int = Field(100, ge=2, le=10**6)
    shortest_step: float = Field(0.01, gt=0, le=1e3)
    longest_step: float = Field(0.1, gt=0, le=1e3)
    perturbed: tuple[Literal["recurrent", "all"], ...] = ("recurrent", "all")
    error_horizon: tuple[Annotated[int, Field(ge=1, le=10**6)], ...] = (100, 1000)
    repeat: int = Field(30, ge=1, le=10**5)
    beta: tuple[Annotated[float, Field(ge=0, le=1e3)], ...] = PUBLISHED_BETA

    _distinct = field_validator("width", "perturbed")(distinct)

    _ascending = field_validator("error_horizon", "beta")(ascending)


_DISTANCE = "W^{1,inf} distance from the target, convolution without dt"

LAYER_PERTURBATION = Measurement(
    name="layer_perturbation",
    summary="E_m(beta) of one channel of a trained S4, S4D or DSS layer whose weights are perturbed by beta",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 3.2 and Fig. 1, whose third panel is of S4",
    axes={
        "parameterization": None,
        "link": ("continuous",),
        "target": ("slow_polynomial",),
        "seed": (0,),
        "learning_rate": (1e-2,),
    },
    settings=LayerPerturbationSettings,
    variables=lambda _: {
        "final_loss": Variable("loss after training", dims=("width",)),
        "zero_loss": Variable("loss of the zero kernel"),
        "trained_margin": Variable("smallest decay after training", dims=("width",)),
        "fit_error": Variable(f"trained model: {_DISTANCE}", dims=("width", "error_horizon")),
        "largest_perturbation_error": Variable(
            "perturbation error, largest over directions and smaller beta",
            dims=("width", "perturbed", "error_horizon", "beta"),
        ),
    },
    program="stablessm.measurements.layer_perturbation_program:layer_perturbation",
)
