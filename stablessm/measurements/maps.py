"""The maps themselves: their values and their gradient scales over the raw weight and over the decay."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable


class MapsSettings(Settings):
    """Grid of weights.

    Attributes:
        extent: the raw weight runs from -extent to extent.
        points: points of that grid; an even number leaves out 0, where gradient over weight is a limit.
    """

    extent: float = Field(6.0, ge=1e-6, le=1e6)
    points: int = Field(480, ge=2, le=10**6)


class GradientScaleSettings(MapsSettings):
    """Grid of weights and of decays.

    Attributes:
        slowest_decay: smallest decay of the log-spaced grid of decays.
        fastest_decay: largest one; decays outside a map's image are left out of its curve.
        decays: points of that grid.
    """

    slowest_decay: float = Field(1e-3, gt=0)
    fastest_decay: float = Field(1.9, gt=0)
    decays: int = Field(121, ge=2, le=10**6)

    @model_validator(mode="after")
    def _ordered(self) -> GradientScaleSettings:
        if self.slowest_decay >= self.fastest_decay:
            raise ValueError("slowest_decay must be smaller than fastest_decay")
        return self


MAPS = Measurement(
    name="maps",
    summary="decay, eigenvalue, margin and derivative of each map over the raw weight",
    reference="Wang and Li, StableSSM (ICML 2024), section 3",
    axes={"parameterization": None, "link": ("continuous",), "constant_a": (), "constant_b": ()},
    settings=MapsSettings,
    variables=lambda _: {
        "decay": Variable("decay s", dims=("weight",)),
        "eigenvalue": Variable("eigenvalue", dims=("weight",)),
        "margin": Variable("distance to instability", dims=("weight",)),
        "derivative": Variable("derivative of the eigenvalue in the weight", dims=("weight",)),
    },
    program="stablessm.measurements.map_programs:maps",
    joins_maps=True,
)

GRADIENT_SCALE = Measurement(
    name="gradient_scale",
    summary="gradient scale |dlambda/dw| / margin^2, and over the weight, as functions of weight and of decay",
    reference="Wang and Li, StableSSM (ICML 2024), Theorem 3.4 and Fig. 2; |f| for f in discrete time",
    axes={"parameterization": None, "link": ("continuous",), "constant_a": (), "constant_b": ()},
    settings=GradientScaleSettings,
    variables=lambda _: {
        "gradient_scale": Variable("gradient scale", dims=("weight",)),
        "gradient_over_weight": Variable("gradient scale over weight", dims=("weight",)),
        "gradient_scale_of_decay": Variable("gradient scale", dims=("decay",)),
        "gradient_over_weight_of_decay": Variable("gradient scale over weight", dims=("decay",)),
    },
    program="stablessm.measurements.map_programs:gradient_scale",
    joins_maps=True,
)
