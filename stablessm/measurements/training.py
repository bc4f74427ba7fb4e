"""The training of a network on data: what `stablessm train` does, as a cell of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from stablessm.data.generated import ATOMIC
from stablessm.measurements.base import Measurement, Settings, Variable
from stablessm.measurements.lr_stability import outcome_variables
from stablessm.tasks.architecture import Norm, Start

_TEXTS = ("shakespeare", "brown")


class TrainingSettings(Settings):
    """What is trained on what; the map, the width, the rate and the seed are axes.

    Attributes:
        data: a data set, or the path of a file.
        options: what its loader takes.
        context: steps of a row of a text or a long series.
        layer: kinds of layer, the first one next to the encoder.
        depth: how often they are stacked.
        states: order of the real system of a layer.
        start: eigenvalues at the start, see `tasks.architecture`; those of a ring are the same for every seed.
        norm: before the layer or behind the sum, "pre" or "post", with a gain and a shift for each feature;
            "pre_scalar" or "post_scalar", with one of both for all; or "none".
        mixing: "glu", "linear" or "none".
        dropout: share of the features.
        residual: whether a block adds its input.
        pool_steps: of each block from the first on, how many steps it averages into one.
        readout: what a classifier reads.
        layer_options: kind of layer -> what it takes beyond that.
        steps: of the optimiser.
        batch: rows of a batch.
        recurrent_multiplier: of the rate of recurrent weights.
        step_multiplier: of the rate of step sizes.
        weight_decay: of the other weights.
        warmup: share of the steps over which the rate rises.
        schedule: "cosine" or "constant".
        final: share of the rate that is left at the end of a cosine.
        clip: largest norm of a gradient; 0 for none.
        records: how many steps are recorded, evenly spaced from the first.
        evaluated: validation and test rows that are looked at; all by default (0).
        activations: precision in which features are held between layers.
    """

    data: str = "digits"
    options: dict[str, Any] = Field(default_factory=dict)
    context: int = Field(256, ge=1, le=2**20)
    layer: list[str] = Field(default_factory=lambda: ["s4d"])
    depth: int = Field(2, ge=1, le=1000)
    states: int = Field(64, ge=1, le=2**16)
    start: Start = "auto"
    norm: Norm = "pre"
    mixing: Literal["glu", "linear", "none"] = "glu"
    dropout: float = Field(0.0, ge=0, lt=1)
    residual: bool = True
    pool_steps: list[int] = Field(default_factory=list)
    readout: Literal["auto", "mean", "last"] = "auto"
    layer_options: dict[str, Any] = Field(default_factory=dict)
    steps: int = Field(400, ge=1, le=10**7)
    batch: int = Field(32, ge=1, le=10**6)
    recurrent_multiplier: float = Field(1.0, ge=0, le=1e3)
    step_multiplier: float = Field(1.0, ge=0, le=1e3)
    weight_decay: float = Field(0.01, ge=0, le=1)
    warmup: float = Field(0.0, ge=0, lt=1)
    schedule: Literal["cosine", "constant"] = "cosine"
    final: float = Field(0.0, ge=0, le=1)
    clip: float = Field(0.0, ge=0)
    records: int = Field(40, ge=1, le=10**5)
    evaluated: int = Field(0, ge=0)
    activations: Literal["float32", "bfloat16"] = "float32"


def metric_of(data: str, options: Mapping[str, Any]) -> str:
    """Return the name of the metric that a data set is scored by, known before it is read."""
    if options.get("ask") == "next":
        return "bits_per_dimension"
    if data in ATOMIC:
        return "r2"
    suffix = Path(data).suffix.lower()
    if data in _TEXTS or suffix == ".txt":
        return "bits_per_character"
    return "mean_squared_error" if suffix == ".csv" else "accuracy"


def _variables(settings: TrainingSettings) -> dict[str, Variable]:
    metric = metric_of(settings.data, settings.options)
    shown = metric.replace("_", " ")
    return {
        **outcome_variables(),
        "loss": Variable("training loss of a batch", dims=("step",)),
        "gradient_to_weight_ratio": Variable(
            "gradient over weight of the raw weights of a layer's map", dims=("step", "layer", "quantile")
        ),
        "validation_loss": Variable("validation loss at the end, infinite where it is not finite"),
        f"validation_{metric}": Variable(f"validation {shown} at the end"),
        "test_loss": Variable("test loss at the end, infinite where it is not finite"),
        f"test_{metric}": Variable(f"test {shown} at the end"),
        f"test_{metric}_error": Variable(f"standard error of the test {shown} over rows"),
    }


TRAINING = Measurement(
    name="training",
    summary="outcome, gradient over weight and test metric of a network of any layers trained on data",
    reference="Wang and Li, StableSSM (ICML 2024), Table 2, Figs. 3 and 4",
    axes={
        "parameterization": None,
        "link": ("continuous",),
        "width": (64,),
        "length": (),  # of what is generated; that of its options unless it is given
        "learning_rate": (1e-3,),
        "seed": (0,),
    },
    settings=TrainingSettings,
    variables=_variables,
    program="stablessm.measurements.training_program:training",
    trains_networks=True,
)
