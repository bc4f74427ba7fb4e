"""E_m(beta) between two numbers: the largest change that was found and a bound on every change."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from stablessm.measurements.base import Measurement, Variable, ascending, distinct
from stablessm.measurements.perturbation import PUBLISHED_BETA, PublishedTraining

MOVED = ("recurrent", "input", "readout", "all")
KINDS = ("inf", "block_l2", "l2")
KNOWN_NORMS = ("l1", "l2", "sobolev")


class ExactPerturbationSettings(PublishedTraining):
    """Which models, and what of them moves how far.

    Attributes:
        source: "best" perturbs the best approximations of the target over each extent, U_i = |c_i| (the factors that
            bound the cost of moving either), "trained" a model of the published training.
        width: numbers of modes, ascending.
        extent: "infinite" or "finite" (up to horizon x step_size): where the error is taken, and the best fit made.
        perturbed: blocks that move; "all" are the recurrent, the input and the readout weights.
        ball: as in `perturbation`.
        norm: "l1", "l2" or "sobolev" (W^{1,inf}).
        beta: sizes, ascending.
        repeat: the random directions of the sampled estimate.
        starts: how many of the random directions the ascent starts from, besides three of its own.
        ascents: gradients of each ascent.
    """

    source: Literal["best", "trained"] = "best"
    width: tuple[Annotated[int, Field(ge=1, le=128)], ...] = (4, 8, 16, 32, 64)
    extent: tuple[Literal["infinite", "finite"], ...] = ("infinite", "finite")
    perturbed: tuple[Literal["recurrent", "input", "readout", "all"], ...] = ("recurrent", "all")
    ball: tuple[Literal["inf", "block_l2", "l2"], ...] = ("inf", "l2")
    norm: tuple[Literal["l1", "l2", "sobolev"], ...] = ("l1", "sobolev")
    beta: tuple[Annotated[float, Field(gt=0, le=10)], ...] = PUBLISHED_BETA[1:]
    repeat: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = tuple(range(30))
    starts: int = Field(2, ge=0, le=1000)
    ascents: int = Field(8, ge=2, le=1000)

    _ascending = field_validator("width", "beta")(ascending)

    _distinct = field_validator("extent", "perturbed", "ball", "norm", "repeat")(distinct)


_OF = ("extent", "width")
_ALL = (*_OF, "perturbed", "ball", "norm", "beta")
_ELSE = "nan where the map does not reach the decays"

EXACT_PERTURBATION = Measurement(
    name="exact_perturbation",
    summary="E_m(beta) of best approximations, by projected ascent, with an upper bound and the stability radius",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 3.2; certificates: this project",
    axes={
        "parameterization": None, "link": ("continuous",), "target": None, "optimizer": ("adam_plateau",), "seed": (0,),
        "constant_a": (), "constant_b": (), "learning_rate": (1e-2,),
    },
    settings=ExactPerturbationSettings,
    variables=lambda _: {
        "perturbation_error": Variable(f"perturbation error, {_ELSE}", dims=_ALL),
        "perturbation_error_bound": Variable(f"upper bound on the perturbation error, {_ELSE}", dims=_ALL),
        "sampled_perturbation_error": Variable(f"perturbation error in random directions, {_ELSE}", dims=_ALL),
        "approximation_error": Variable("distance of the model from the target", dims=(*_OF, "norm")),
        "target_norm": Variable("norm of the target", dims=("extent", "norm")),
        "stability_radius": Variable("stability radius", dims=_OF),
        "euler_radius": Variable("stability radius under Euler's step", dims=_OF),
        "slowest_decay": Variable("slowest decay of the model", "1/time", dims=_OF),
        "modes_used": Variable("number of modes used", dims=_OF, dtype="int32"),
        "reached": Variable("the map reaches the decays of the model", dims=_OF, dtype="int8", flags=("no", "yes")),
    },
    program="stablessm.measurements.exact_perturbation_program:exact_perturbation",
    joins_maps=True,
)  # fmt: skip
