"""A pointwise network beside the two Eq. 2 layers without memory that it is."""

from __future__ import annotations

from pydantic import Field

from stablessm.measurements.base import Measurement, Settings, Variable


class PointwiseNetworkSettings(Settings):
    """Sizes.

    Attributes:
        features: inputs and outputs of the network; the axis `width` is that of its hidden layer.
        points: steps of the series, a straight line through the space of inputs.
        extent: the line runs from -extent to extent.
    """

    features: int = Field(16, ge=1, le=4096)
    points: int = Field(201, ge=2, le=10**6)
    extent: float = Field(4.0, gt=0, le=1e3)


POINTWISE_NETWORK = Measurement(
    name="pointwise_network",
    summary="U_1 sigma(U_2 x + b_2) + b_1 beside what two layers with recurrent weights 0 hold before the second sigma",
    reference="Wang and Li, StableSSM (ICML 2024), Eq. 2",
    axes={"activation": ("tanh", "relu", "gelu"), "width": (64,), "seed": (0,)},
    settings=PointwiseNetworkSettings,
    variables=lambda _: {
        "network_output": Variable("first output of the network", dims=("time",)),
        "stack_output": Variable("the same by two layers with recurrent weights 0", dims=("time",)),
        "difference": Variable("largest difference over all outputs", dims=("time",)),
        "input_size": Variable("place on the line of inputs", dims=("time",)),
    },
    program="stablessm.measurements.pointwise_network_program:pointwise_network",
)
