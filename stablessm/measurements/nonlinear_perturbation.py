"""Perturbation error of trained nonlinear models, with the three distances of the triangle inequality."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from stablessm.measurements.base import Measurement, Variable, ascending, distinct
from stablessm.measurements.gradient_bound import StackSettings
from stablessm.measurements.lr_stability import outcome_variables

BETA = (0.0, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0)


class NonlinearPerturbationSettings(StackSettings):
    """Training of a stack of Eq. 2 layers on sampled inputs, and what is perturbed how.

    Attributes:
        depth: number of layers.
        steps: optimiser steps.
        batch: series in a batch, N(0, 1) white.
        horizon: steps of a series.
        probes: series of |x| <= 1 that the distances are taken over: a third of them white, a third of random signs, a
            third constant.
        probe_horizon: steps of those series; may exceed the horizon of the training.
        perturbed: blocks that are perturbed: the recurrent weights, or all.
        ball: "inf" or "block_l2"; each block is scaled by itself, so that all reach the sphere.
        repeat: the directions, each a number that fixes it together with the seed.
        beta: sizes of the perturbation, ascending.
        climbs: steps of the search for the inputs that the trained model remembers best.
    """

    depth: int = Field(1, ge=1, le=64)
    steps: int = Field(2000, ge=1, le=10**7)
    batch: int = Field(32, ge=1, le=10**5)
    horizon: int = Field(100, ge=2, le=10**5)
    probes: int = Field(30, ge=3, le=10**5)
    probe_horizon: int = Field(200, ge=2, le=10**6)
    perturbed: tuple[Literal["recurrent", "all"], ...] = ("recurrent", "all")
    ball: Literal["inf", "block_l2"] = "inf"
    repeat: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = tuple(range(30))
    beta: tuple[Annotated[float, Field(ge=0, le=1e3)], ...] = BETA
    climbs: int = Field(20, ge=0, le=10**5)

    _distinct = field_validator("repeat", "perturbed")(distinct)

    _ascending = field_validator("beta")(ascending)


_DISTANCE = "largest error over the probes, plus that of its increments over dt"

NONLINEAR_PERTURBATION = Measurement(
    name="nonlinear_perturbation",
    summary="distance of a trained nonlinear stack from its target, of its perturbations from both, and its memory",
    reference="Wang, Li and Li, Inverse Approximation Theory (ICLR 2024), section 4; StableSSM, Theorem 3.3",
    axes={
        "parameterization": None,
        "link": ("continuous",),
        "target": ("polynomial",),
        "activation": ("tanh",),
        "optimizer": ("adam",),
        "learning_rate": (1e-2,),
        "width": (8,),
        "seed": (0,),
        "constant_a": (),
        "constant_b": (),
    },
    settings=NonlinearPerturbationSettings,
    variables=lambda _: {
        **outcome_variables(),
        "approximation_distance": Variable(f"trained model from the target: {_DISTANCE}"),
        "perturbation_distance": Variable(
            f"perturbed model from the trained one: {_DISTANCE}", dims=("perturbed", "repeat", "beta")
        ),
        "total_distance": Variable(
            f"perturbed model from the target: {_DISTANCE}", dims=("perturbed", "repeat", "beta")
        ),
        "largest_perturbation_distance": Variable(
            "perturbed model from the trained one, largest over directions and smaller beta", dims=("perturbed", "beta")
        ),
        "largest_total_distance": Variable(
            "perturbed model from the target, largest over directions and smaller beta", dims=("perturbed", "beta")
        ),
        "perturbed_margin": Variable(
            "1 - largest multiplier of a step of the perturbed model", dims=("perturbed", "repeat", "beta")
        ),
        "trained_margin": Variable("1 - largest multiplier of a step of the trained model"),
        "memory_function": Variable("memory function of the trained model", dims=("time",)),
        "initial_memory_function": Variable("memory function of the untrained model", dims=("time",)),
        "target_memory_function": Variable("memory function of the target", dims=("time",)),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("layer", "state")),
        "trained_eigenvalue": Variable("eigenvalue after training", dims=("layer", "state")),
    },
    program="stablessm.measurements.nonlinear_perturbation_program:nonlinear_perturbation",
    joins_maps=True,
)
