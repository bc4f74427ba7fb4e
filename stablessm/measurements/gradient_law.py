"""Gradient over weight of every recurrent weight along training, beside the scale that theory gives it."""

from __future__ import annotations

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES, outcome_variables
from stablessm.measurements.settings import RecordedFitSettings

GRADIENT_LAW = Measurement(
    name="gradient_law",
    summary="|dLoss/dw| / |w| of every recurrent weight along training, and |f'| / (f^2 |w|) there",
    reference="Wang and Li, StableSSM (ICML 2024), Theorem 3.4, Eq. 12 and Fig. 3",
    axes=KERNEL_FIT_AXES,
    settings=RecordedFitSettings,
    variables=lambda _: {
        **outcome_variables(),
        "gradient_to_weight_ratio": Variable("gradient over weight", dims=("step", "state")),
        "gradient_scale_over_weight": Variable("theoretical scale of gradient over weight", dims=("step", "state")),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",)),
    },
    program="stablessm.measurements.fit_programs:gradient_law",
    joins_maps=True,
)
