"""Generalisation: training on a few noisy sequences, tested on all there are."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.lr_stability import KERNEL_FIT_AXES, outcome_variables
from stablessm.measurements.settings import RecordedFitSettings


class GeneralisationSettings(RecordedFitSettings):
    """A fit to one fixed set of sequences.

    Attributes:
        sequences: how many there are; all of them are in every batch.
        noise: standard deviation of the white noise on their outputs.
    """

    loss: Literal["gram"] = "gram"
    sequences: int = Field(4, ge=1, le=10**5)
    noise: float = Field(0.1, ge=0, le=1e3)


GENERALISATION = Measurement(
    name="generalisation",
    summary="loss on a fixed set of noisy sequences and on all there are, along training, by learning rate and map",
    reference="this project; Wang and Li, StableSSM (ICML 2024), section 4.4",
    axes=KERNEL_FIT_AXES,
    settings=GeneralisationSettings,
    variables=lambda _: {
        **outcome_variables(),
        "loss": Variable("loss on the training sequences", dims=("step",)),
        "test_loss": Variable("expected loss on new sequences, without noise", dims=("step",)),
        "zero_loss": Variable("expected loss of the zero model on new sequences"),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",)),
    },
    program="stablessm.measurements.generalisation_program:generalisation",
    joins_maps=True,
)
