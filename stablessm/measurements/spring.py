"""A mass on a spring, pushed now and then: the system that S4 begins with."""

from __future__ import annotations

from pydantic import Field

from stablessm.measurements.base import Measurement, Settings, Variable


class SpringSettings(Settings):
    """The spring and its force, in SI units.

    Attributes:
        stiffness: force per distance.
        damping: force per speed.
        mass: of what hangs on it.
        steps: number of steps.
        step_size: seconds of a step.
        frequency: of the sine whose upper part is the force, radians per second.
        threshold: what of the sine is force.
    """

    stiffness: float = Field(40.0, ge=0, le=1e6)
    damping: float = Field(5.0, ge=0, le=1e6)
    mass: float = Field(1.0, gt=0, le=1e6)
    steps: int = Field(100, ge=2, le=10**5)
    step_size: float = Field(0.01, gt=0, le=1e3)
    frequency: float = Field(10.0, gt=0, le=1e6)
    threshold: float = Field(0.5, ge=-1, lt=1)


SPRING = Measurement(
    name="spring",
    summary="position of a mass on a spring by recurrence and by convolution, bilinear rule",
    reference="Rush and Karamcheti, The Annotated S4",
    axes={"seed": (0,)},
    settings=SpringSettings,
    variables=lambda _: {
        "force": Variable("force", "N", ("time",)),
        "position": Variable("position", "m", ("time",)),
        "speed": Variable("speed", "m/s", ("time",)),
        "convolved_position": Variable("position, by convolution", "m", ("time",)),
    },
    program="stablessm.measurements.s4_programs:spring",
)
