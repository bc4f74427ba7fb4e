"""Memory: what a model remembers before and after training, against the target it is trained on."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES, outcome_variables
from stablessm.measurements.settings import KernelFitSettings


class MemorySettings(KernelFitSettings):
    """A fit whose memory is measured at its start and at its end.

    Attributes:
        memory_horizon: samples of the memory functions; beyond `horizon` a model was not fitted to anything.
        lags: lags of the context form, log-spaced from 0 to the memory horizon.
        extent: the curve of the map runs over raw weights from -extent to extent.
        points: points of that curve.
    """

    memory_horizon: int = Field(400, ge=2, le=10**6)
    lags: int = Field(48, ge=2, le=10**5)
    extent: float = Field(12.0, gt=0, le=1e6)
    points: int = Field(240, ge=2, le=10**6)

    @model_validator(mode="after")
    def _beyond_the_fit(self) -> MemorySettings:
        if self.memory_horizon < self.horizon:
            raise ValueError("memory_horizon must be at least horizon, the samples that are fitted")
        return self


MEMORY = Measurement(
    name="memory",
    summary="memory function and its context form, of the model before and after training and of the target",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 2.1 and Theorem 3.1",
    axes=KERNEL_FIT_AXES,
    settings=MemorySettings,
    variables=lambda _: {
        **outcome_variables(),
        "horizon": Variable("number of samples that were fitted", dtype="int32"),
        "memory_function": Variable("memory function", dims=("step", "time")),
        "target_memory_function": Variable("memory function of the target, NaN behind its samples", dims=("time",)),
        "context_difference": Variable("change of the output by a change of the input, per unit", dims=("step", "lag")),
        "disagreement": Variable(
            "largest difference of Heaviside, impulse and context form from the kernel, over its largest value",
            dims=("step",),
        ),
        "eigenvalue": Variable("eigenvalue", dims=("step", "state")),
        "margin": Variable("distance to instability", dims=("step", "state")),
        "recurrent_weight": Variable("raw weight", dims=("step", "state")),
        "margin_of_weight": Variable("distance to instability of the map", dims=("weight",)),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",)),
    },
    program="stablessm.measurements.memory_program:memory",
    joins_maps=True,
)
