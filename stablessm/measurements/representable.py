"""The longest memory a number format can hold, by map and link: margin computed by the map, or lost by subtraction."""

from __future__ import annotations

from pydantic import Field

from stablessm.measurements.base import Measurement, Settings, Variable

DTYPES = ("float32", "bfloat16", "float16")


class RepresentableSettings(Settings):
    """Where memory is counted.

    Attributes:
        step_size: dt, distance of the steps that memory is counted in (continuous time).
    """

    step_size: float = Field(1.0, gt=0, le=1e3)


REPRESENTABLE_MEMORY = Measurement(
    name="representable_memory",
    summary="longest memory (1 / smallest positive margin) over all finite weights of float32, bfloat16 and float16",
    reference="this project; the margin is the distance to instability, Wang and Li, StableSSM (ICML 2024), section 3",
    axes={"parameterization": None, "link": ("continuous",), "constant_a": (), "constant_b": ()},
    settings=RepresentableSettings,
    variables=lambda _: {
        "longest_memory": Variable("longest memory by the margin of the map", "steps", dims=("dtype",)),
        "longest_memory_weight": Variable("weight of the longest memory by the margin of the map", dims=("dtype",)),
        "longest_memory_by_subtraction": Variable("longest memory by subtraction", "steps", dims=("dtype",)),
        "longest_memory_by_subtraction_weight": Variable(
            "weight of the longest memory by subtraction", dims=("dtype",)
        ),
    },
    program="stablessm.measurements.representable_program:representable_memory",
    joins_maps=True,
)
