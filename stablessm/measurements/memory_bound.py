"""Theorem 3.1 measured: the memory function of a stack beside the bound."""

from __future__ import annotations

from pydantic import Field

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.gradient_bound import StackSettings


class MemoryBoundSettings(StackSettings):
    """A stack whose first layers, one, two and more of them, are looked at.

    Attributes:
        memory_horizon: steps of the memory functions; they are run in pieces.
        records: how many of them are stored: all, or log-spaced ones.
        climbs: steps of the search for the inputs that are remembered best.
    """

    step_size: float = Field(0.5, gt=0, le=1e3)
    slowest_decay: float = Field(0.1, gt=0, le=1e3)
    memory_horizon: int = Field(160, ge=2, le=10**6)
    records: int = Field(400, ge=2, le=10**5)
    climbs: int = Field(40, ge=0, le=10**5)


MEMORY_BOUND = Measurement(
    name="memory_bound",
    summary="memory of stacks at rest (three queries) beside Theorem 3.1's bound and a sharper one from all weights",
    reference="Wang and Li, StableSSM (ICML 2024), Theorem 3.1 (camera-ready: 3.3)",
    axes={
        "parameterization": ("direct",),
        "link": ("continuous",),
        "activation": ("identity", "tanh", "hardtanh"),
        "width": (8,),
        "seed": (0,),
    },
    settings=MemoryBoundSettings,
    variables=lambda _: {
        "memory_function": Variable("memory function", dims=("layer", "time")),
        "impulse_memory": Variable("memory of an impulse", dims=("layer", "time")),
        "reversed_memory": Variable("memory of an input that ends", dims=("layer", "time")),
        "memory_bound": Variable("bound of Theorem 3.1", dims=("layer", "time")),
        "memory_majorant": Variable("memory function of the linear model of moduli", dims=("layer", "time")),
        "slowest_decay": Variable("smallest decay of the states, beta of the bound", dims=("layer",)),
        "largest_weight": Variable("largest 2-norm of a block of weights", dims=("layer",)),
        "initial_eigenvalue": Variable("eigenvalue at the start", dims=("layer", "state")),
    },
    program="stablessm.measurements.memory_bound_program:memory_bound",
    joins_maps=True,
)
