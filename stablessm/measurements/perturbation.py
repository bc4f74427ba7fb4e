"""The perturbation error E_m(beta): how far a trained model moves when its weights move by at most beta."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from stablessm.measurements.base import Measurement, Variable, ascending, distinct
from stablessm.measurements.lr_stability import FIT_AXES, outcome_variables
from stablessm.measurements.settings import KernelFitSettings

BLOCKS = ("recurrent", "input", "readout", "bias")
PUBLISHED_BETA = (0.0, *(float(f"{1e-3 * 2 ** (i / 2):.12g}") for i in range(21)))  # StableSSM, Fig. 1


class PublishedTraining(KernelFitSettings):
    """The training of the published Fig. 1.

    Attributes:
        steps: optimiser steps.
        loss: "white_noise" (closed form, no training noise), "gram" or "sampled".
        weighting: "time" weights each time step of the loss by the published ((t + 1) / (T + 1))^2, "flat" by 1.
        stop: "steps" trains every width to the end, "previous_width" until its loss falls to that of the width before,
            as the published runs do.
        width: numbers of states m.
    """

    steps: int = Field(3000, ge=1, le=10**7)
    weighting: Literal["time", "flat"] = "time"
    stop: Literal["steps", "previous_width"] = "steps"
    width: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = (4, 8, 16, 32, 64)

    @property
    def time_weighted(self) -> bool:
        """Whether the loss weights late times more."""
        return self.weighting == "time"


class PerturbationSettings(PublishedTraining):
    """Training, and what is perturbed how. A declaration may give the tuples as axes.

    Attributes:
        perturbed: blocks that are perturbed: "recurrent", "input", "readout", "bias" or "all" four of them.
        ball: norms of the perturbation: "inf", "block_l2" or "l2" (see `balls`).
        error_horizon: steps over which the error is taken, ascending; may exceed the horizon of the training.
        repeat: the directions, each a number that fixes it together with the seed.
        beta: sizes of the perturbation, ascending.
        search: how the worst perturbation is sought: "sampled" takes the random directions as they are, "ascent" climbs
            from each to where the error over the longest horizon is largest.
    """

    perturbed: tuple[Literal["recurrent", "input", "readout", "bias", "all"], ...] = ("all",)
    ball: tuple[Literal["inf", "block_l2", "l2"], ...] = ("inf",)
    error_horizon: tuple[Annotated[int, Field(ge=1, le=10**6)], ...] = (100, 1000)
    repeat: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = tuple(range(30))
    beta: tuple[Annotated[float, Field(ge=0, le=1e3)], ...] = PUBLISHED_BETA
    search: Literal["sampled", "ascent"] = "sampled"

    _distinct = field_validator("width", "perturbed", "ball", "repeat")(distinct)

    _ascending = field_validator("error_horizon", "beta")(ascending)


def _variables(_: PerturbationSettings) -> dict[str, Variable]:
    sets = ("width", "perturbed", "ball")
    raw, largest = ("repeat", "beta"), ("beta",)
    distance = "W^{1,inf} distance from the target, convolution without dt"
    loss = "time-weighted mean squared error on sampled white input over the horizon of the training"
    margin = "1 - largest multiplier of a step, negative where unstable"
    return {
        **{name: one.of("width") for name, one in outcome_variables().items()},
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("width", "state")),
        "trained_decay": Variable("decay s after training", dims=("width", "state")),
        "trained_margin": Variable(f"trained model: {margin}", dims=("width",)),
        "stable_after_training": Variable(
            "every multiplier inside of the unit circle after training (for euler: |1 - s dt| < 1)",
            dims=("width",),
            dtype="int8",
            flags=("no", "yes"),
        ),
        "fit_error": Variable(f"trained model: {distance}", dims=("width", "error_horizon")),
        "perturbation_error": Variable(f"perturbed model: {distance}", dims=(*sets, "error_horizon", *raw)),
        "largest_perturbation_error": Variable(
            "perturbation error, largest over directions and smaller beta", dims=(*sets, "error_horizon", *largest)
        ),
        "perturbation_loss": Variable(f"perturbed model: {loss}", dims=(*sets, *raw)),
        "largest_perturbation_loss": Variable(
            "sampled loss of the perturbed model, largest over directions and smaller beta", dims=(*sets, *largest)
        ),
        "perturbed_margin": Variable(f"perturbed model: {margin}", dims=(*sets, *raw)),
    }


PERTURBATION = Measurement(
    name="perturbation",
    summary="E_m(beta): error of a trained linear RNN whose weights are perturbed by beta in random directions",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 3.2 and Fig. 1",
    axes={
        **{name: values for name, values in FIT_AXES.items() if name != "width"},
        "discretisation": ("zero_order_hold",),
        "optimizer": ("adam_plateau",),
        "learning_rate": (1e-2,),
    },
    settings=PerturbationSettings,
    variables=_variables,
    program="stablessm.measurements.perturbation_programs:perturbation",
    joins_maps=True,
)
