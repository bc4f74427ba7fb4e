"""Sharpness: the curvature of the loss along training, against what the learning rate allows."""

from __future__ import annotations

from pydantic import Field

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES, outcome_variables
from stablessm.measurements.settings import PhasedSettings, RecordedFitSettings


class SharpnessSettings(PhasedSettings, RecordedFitSettings):
    """A fit whose curvature is measured on the way.

    Attributes:
        products: products with the Hessian for each eigenvalue (Lanczos).
    """

    products: int = Field(24, ge=1, le=1000)


SHARPNESS = Measurement(
    name="sharpness",
    summary="largest Hessian eigenvalue along training against what the learning rate allows, and gradient over weight",
    reference="Cohen et al., Gradient descent typically occurs at the edge of stability (ICLR 2021); this project",
    axes=KERNEL_FIT_AXES,
    settings=SharpnessSettings,
    variables=lambda settings: {
        **outcome_variables(),
        "loss": Variable("loss", dims=("step",)),
        "sharpness": Variable("largest eigenvalue of the Hessian", dims=("step",)),
        "recurrent_sharpness": Variable("largest eigenvalue of the Hessian of the recurrent weights", dims=("step",)),
        "edge_ratio": Variable(
            "learning rate times largest preconditioned curvature, over where it is unstable", dims=("step",)
        ),
        "gradient_to_weight_ratio": Variable("largest gradient over recurrent weight", dims=("step",)),
        "gradient_scale_over_weight": Variable("largest theoretical scale of it", dims=("step",)),
        "mode_curvature": Variable("largest theoretical curvature of a mode at its optimum", dims=("step",)),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",), dtype=settings.eigenvalue_dtype),
    },
    program="stablessm.measurements.sharpness_program:sharpness",
    joins_maps=True,
)
