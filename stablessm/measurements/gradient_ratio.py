"""Gradient over weight of the recurrent weights, at the start and along training."""

from __future__ import annotations

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES, outcome_variables
from stablessm.measurements.settings import RecordedFitSettings

GRADIENT_RATIO = Measurement(
    name="gradient_ratio",
    summary="|dLoss/dw| and |dLoss/dw| / |w| of each recurrent weight, at the start and along training",
    reference="Wang and Li, StableSSM (ICML 2024), Eq. 12 and Fig. 3",
    axes=KERNEL_FIT_AXES,
    settings=RecordedFitSettings,
    variables=lambda _: {
        **outcome_variables(),
        "loss": Variable("loss", dims=("step",)),
        "initial_gradient": Variable("size of the gradient at the start", dims=("state",)),
        "initial_gradient_to_weight_ratio": Variable("gradient over weight at the start", dims=("state",)),
        "gradient": Variable("size of the gradient over the recurrent weights", dims=("step", "quantile")),
        "gradient_to_weight_ratio": Variable(
            "gradient over weight of the recurrent weights", dims=("step", "quantile")
        ),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",)),
    },
    program="stablessm.measurements.fit_programs:gradient_ratio",
    joins_maps=True,
)
