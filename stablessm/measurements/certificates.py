"""What `verify` proves about a map, as curves and numbers: the same expressions, evaluated."""

from __future__ import annotations

from pydantic import Field, model_validator

from stablessm.measurements.base import Measurement, Settings, Variable

STATEMENTS = ("stability", "modulus", "gradient_scale", "gradient_over_weight", "lipschitz", "curvature")
"""The statements a certificate of curves needs; `criterion` says of no number more than these."""

VERDICTS = ("refuted", "undecided", "proved")
MODULI = ("none", "least", "bound", "open")
"""What is known of g: that none exists, the least one, a larger one, or only that there is one (or not even that)."""


class CertificateSettings(Settings):
    """Grids.

    Attributes:
        smallest_beta: smallest size of a perturbation.
        greatest_beta: greatest one.
        shortest_memory: shortest memory length 1/margin; those that a map does not reach are left out of its curve.
        longest_memory: longest one.
        points: points of each grid, which is spaced evenly in the logarithm.
    """

    smallest_beta: float = Field(1e-2, gt=0, le=1e3)
    greatest_beta: float = Field(1e1, gt=0, le=1e3)
    shortest_memory: float = Field(1e-1, ge=1e-6, le=1e12)
    longest_memory: float = Field(1e4, ge=1e-6, le=1e12)
    points: int = Field(121, ge=2, le=10**4)

    @model_validator(mode="after")
    def _ordered(self) -> CertificateSettings:
        for low, high in (("smallest_beta", "greatest_beta"), ("shortest_memory", "longest_memory")):
            if getattr(self, low) >= getattr(self, high):
                raise ValueError(f"{low} must be smaller than {high}")
        return self


_KNOWN = "or a bound on it, nan where none is stated"

CERTIFICATES = Measurement(
    name="certificates",
    summary="verdicts of verify, and its expressions evaluated: g(beta), gradient scales and stable step over memory",
    reference="Wang and Li, StableSSM (ICML 2024), Definition 3.2, Theorem 3.4, Eq. 11; stable step: this project",
    axes={"parameterization": None, "link": ("continuous",)},
    settings=CertificateSettings,
    variables=lambda _: {
        "verdict": Variable("verdict of verify", dims=("statement",), dtype="int8", flags=VERDICTS),
        "modulus_kind": Variable("what is known of the modulus g", dtype="int8", flags=MODULI),
        "modulus": Variable("modulus g(beta)", dims=("beta",)),
        "gradient_scale": Variable("gradient scale", dims=("memory_length",)),
        "gradient_over_weight": Variable("gradient scale over weight", dims=("memory_length",)),
        "stable_step": Variable("largest stable step", dims=("memory_length",)),
        "modulus_slope": Variable(f"supremum of |m'/m|, the slope of g at 0, {_KNOWN}"),
        "largest_gradient_over_weight": Variable(f"supremum of gradient scale over weight, {_KNOWN}"),
        "lipschitz_constant": Variable(f"supremum of |tau''|, Equation 11, {_KNOWN}"),
        "smallest_stable_step": Variable(f"infimum of the largest stable step, {_KNOWN}"),
    },
    program="stablessm.measurements.certificates_program:certificates",
)
