"""What moving a mode costs as its decay goes to 0: recurrent weight, phase, readout; and Theorem 3.3's condition."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable


class ModePerturbationSettings(Settings):
    """How far weights move, and over which modes.

    Attributes:
        beta: by how much each weight moves.
        slowest_decay: smallest decay of the log-spaced grid of decays.
        fastest_decay: largest one.
        decays: points of that grid.
        samples: samples of the integrals that are summed up, spread over 20 / decay.
        power: powers p of the targets (1 + t)^-p whose mixtures of modes are summed up.
        width: numbers of modes of those mixtures.
    """

    beta: float = Field(0.1, gt=0, le=10)
    slowest_decay: float = Field(1e-3, gt=0)
    fastest_decay: float = Field(1.9, gt=0)
    decays: int = Field(40, ge=2, le=10**5)
    samples: int = Field(20000, ge=100, le=10**7)
    power: tuple[float, ...] = (0.9, 1.1, 1.5, 2.0)
    width: tuple[int, ...] = (4, 8, 16, 32, 64)

    @model_validator(mode="after")
    def _ordered(self) -> ModePerturbationSettings:
        if self.slowest_decay >= self.fastest_decay:
            raise ValueError("slowest_decay must be smaller than fastest_decay")
        if not self.power or min(self.power) <= 0:
            raise ValueError("power must hold numbers above 0")
        if not self.width or min(self.width) < 1 or max(self.width) > 128:
            raise ValueError("width must hold numbers of modes from 1 to 128")
        return self


MODE_PERTURBATION = Measurement(
    name="mode_perturbation",
    summary="L1 distance of a mode whose recurrent weight, free or scaled phase, or readout moves, by its decay",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 3.2 and Theorem 3.3; phase and readout: this project",
    axes={"parameterization": None, "link": ("continuous",), "constant_a": (), "constant_b": ()},
    settings=ModePerturbationSettings,
    variables=lambda _: {
        "recurrent_distance": Variable("normalised distance, recurrent weight moved", dims=("decay",)),
        "recurrent_distance_summed": Variable("the same, summed up from samples", dims=("decay",)),
        "free_phase_distance": Variable("normalised distance, free phase moved", dims=("decay",)),
        "free_phase_distance_summed": Variable("the same, summed up from samples", dims=("decay",)),
        "scaled_phase_distance": Variable("normalised distance, scaled phase moved", dims=("decay",)),
        "scaled_phase_distance_summed": Variable("the same, summed up from samples", dims=("decay",)),
        "readout_cost": Variable("distance, readout weight moved", dims=("decay",)),
        "readout_cost_summed": Variable("the same, summed up from samples", dims=("decay",)),
        "absolute_mass": Variable("sum of |c U|/|lambda| over the modes", dims=("power", "width")),
        "absolute_mass_limit": Variable("its limit for many modes, infinite where there is none", dims=("power",)),
    },
    program="stablessm.measurements.mode_perturbation_program:mode_perturbation",
    joins_maps=True,
)
