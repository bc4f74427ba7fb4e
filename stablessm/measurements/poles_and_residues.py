"""Poles against residues: what an equal change of both does to the output, early and late."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable


class PolesAndResiduesSettings(Settings):
    """A mixture of modes with the memory (1 + t)^-p, and how far its weights move.

    Attributes:
        power: p of the target.
        width: number of modes, log-spaced in their decay.
        slowest_decay: smallest decay of a mode.
        fastest_decay: largest one.
        beta: by how much every weight may move.
        longest_time: last of the log-spaced times.
        times: how many of them.
        repeats: random corners of the ball that are tried, beside its worst point.
    """

    power: float = Field(1.1, gt=0, le=20)
    width: int = Field(32, ge=1, le=4096)
    slowest_decay: float = Field(1e-3, gt=0)
    fastest_decay: float = Field(1.9, gt=0)
    beta: float = Field(0.01, gt=0, le=10)
    longest_time: float = Field(1e4, gt=1, le=1e9)
    times: int = Field(81, ge=2, le=10**5)
    repeats: int = Field(100, ge=1, le=10**5)

    @model_validator(mode="after")
    def _ordered(self) -> PolesAndResiduesSettings:
        if self.slowest_decay >= self.fastest_decay:
            raise ValueError("slowest_decay must be smaller than fastest_decay")
        return self


POLES_AND_RESIDUES = Measurement(
    name="poles_and_residues",
    summary="relative change of the impulse response at time t by weights of poles, of residues and of mapped residues",
    reference="poles against residues: raised in the discussion of StableSSM (ICML 2024); closed forms: this project",
    axes={"parameterization": None, "link": ("continuous",), "constant_a": (), "constant_b": (), "seed": (0,)},
    settings=PolesAndResiduesSettings,
    variables=lambda _: {
        "kernel": Variable("impulse response", dims=("time",)),
        "change_by_poles": Variable("largest relative change, weights of the poles moved", dims=("time",)),
        "sampled_change_by_poles": Variable("the same, largest over random corners of the ball", dims=("time",)),
        "change_by_residues": Variable("largest relative change, residues moved", dims=("time",)),
        "change_by_mapped_residues": Variable("largest relative change, residues e^v, their weights v moved"),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("state",)),
    },
    program="stablessm.measurements.poles_and_residues_program:poles_and_residues",
    joins_maps=True,
)
