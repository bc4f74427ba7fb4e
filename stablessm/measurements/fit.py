"""What a linear RNN makes of a target kernel: the kernel it ends with, beside its outcome and gradient over weight."""

from __future__ import annotations

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES, outcome_variables
from stablessm.measurements.settings import PhasedSettings, RecordedFitSettings


class FitSettings(PhasedSettings, RecordedFitSettings):
    """A fit of which the kernel is kept."""


def _variables(settings: FitSettings) -> dict[str, Variable]:
    number = settings.eigenvalue_dtype
    return {
        **outcome_variables(),
        "fit_error": Variable("relative fit error, |K - rho| over |rho|, infinite where not finite"),
        "target_kernel": Variable("memory kernel of the target", dims=("time",)),
        "fitted_kernel": Variable("memory kernel of the model, infinite where it overflows", dims=("time",)),
        "loss": Variable("loss", dims=("step",)),
        "gradient": Variable("size of the gradient over the recurrent weights", dims=("step", "quantile")),
        "gradient_to_weight_ratio": Variable(
            "gradient over weight of the recurrent weights", dims=("step", "quantile")
        ),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",), dtype=number),
        "final_eigenvalue": Variable("eigenvalue at the end", dims=("state",), dtype=number),
    }


FIT = Measurement(
    name="fit",
    summary="the kernel a linear RNN ends with, its distance from the target, outcome and gradient over weight",
    reference="Wang and Li, StableSSM (ICML 2024), section 4",
    axes=KERNEL_FIT_AXES,
    settings=FitSettings,
    variables=_variables,
    program="stablessm.measurements.fit_programs:fit",
    joins_maps=True,
)
