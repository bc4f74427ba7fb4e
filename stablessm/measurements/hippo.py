"""What the state of HiPPO-LegS remembers of a real series, by the scaled system and by the fixed one."""

from __future__ import annotations

from pydantic import Field, field_validator

from stablessm.measurements.base import Measurement, Settings, Variable, ascending


class HippoSettings(Settings):
    """How many coefficients remember the series, and when they are looked at.

    Attributes:
        states: N, coefficients of a state.
        window: T of the fixed system, in steps; the scaled one has none.
        moments: steps after which the state is looked at.
    """

    states: int = Field(64, ge=1, le=256)
    window: float = Field(50.0, gt=0, le=1e6)
    moments: tuple[int, ...] = (100, 200, 309)

    @field_validator("moments")
    @classmethod
    def _ascending(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if min(value, default=1) < 1:
            raise ValueError("a moment is a number of steps, at least 1")
        return ascending(value)


HIPPO = Measurement(
    name="hippo",
    summary="yearly sunspot numbers from the state of HiPPO-LegS alone: coefficients, polynomials and their sum",
    reference="Gu et al., HiPPO (NeurIPS 2020); Rush and Karamcheti, The Annotated S4",
    axes={"seed": (0,)},
    settings=HippoSettings,
    variables=lambda _: {
        "series": Variable("series", dims=("time",)),
        "coefficient": Variable("coefficient", dims=("system", "moment", "state")),
        "reconstruction": Variable("series, NaN where it is later", dims=("system", "moment", "time")),
        "component": Variable(
            "coefficient times polynomial at the last moment, NaN where it is later", dims=("system", "state", "time")
        ),
        "error": Variable("error over the deviation of the series so far", dims=("system", "moment")),
        "recent_error": Variable("the same over the last T/2 steps", dims=("system", "moment")),
    },
    program="stablessm.measurements.s4_programs:hippo",
)
