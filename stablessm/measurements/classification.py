"""A linear-RNN classifier on real images read as sequences: stability, accuracy and gradient over weight at once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable
from stablessm.measurements.lr_stability import FIT_AXES, outcome_variables


class ClassificationSettings(Settings):
    """Training of the classifier.

    Attributes:
        data: key of the data registry.
        sequence: "pixels" (one value a step, row by row) or "rows" (one row of pixels a step).
        steps: optimiser steps.
        batch: images in a batch, drawn with replacement.
        evaluated: test images on which accuracy and test loss are measured; all by default (0).
        records: how many steps are recorded, evenly spaced from the first.
        slowest_decay: smallest decay of the start, per step of the sequence.
        fastest_decay: largest decay of the start; decays are log-uniform in between.
        complex: whether eigenvalues have a free phase, uniform in (0, pi) at the start.
    """

    data: Literal["digits", "mnist", "fashion_mnist"] = "digits"
    sequence: Literal["pixels", "rows"] = "pixels"
    steps: int = Field(400, ge=1, le=10**7)
    batch: int = Field(64, ge=1, le=10**5)
    evaluated: int = Field(0, ge=0)
    records: int = Field(40, ge=1, le=10**5)
    slowest_decay: float = Field(0.01, gt=0, le=1e3)
    fastest_decay: float = Field(0.5, gt=0, le=1e3)
    complex: bool = True

    @model_validator(mode="after")
    def _ordered(self) -> ClassificationSettings:
        if self.slowest_decay > self.fastest_decay:
            raise ValueError(
                f"slowest_decay must not be larger than fastest_decay, but got {self.slowest_decay:g} and "
                f"{self.fastest_decay:g}"
            )
        return self


CLASSIFICATION = Measurement(
    name="classification",
    summary="accuracy, outcome and gradient over weight of a linear-RNN classifier on images read as sequences",
    reference="Wang and Li, StableSSM (ICML 2024), Table 2",
    axes={name: values for name, values in FIT_AXES.items() if name != "target"},
    settings=ClassificationSettings,
    variables=lambda _: {
        **outcome_variables(),
        "loss": Variable("training loss", dims=("step",)),
        "test_loss": Variable("test loss, infinite where it is not finite"),
        "test_accuracy": Variable("test accuracy"),
        "gradient": Variable("size of the gradient over the recurrent weights", dims=("step", "quantile")),
        "gradient_to_weight_ratio": Variable(
            "gradient over weight of the recurrent weights", dims=("step", "quantile")
        ),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",), dtype="complex64"),
    },
    program="stablessm.measurements.classification_program:classification",
    joins_maps=True,
)
