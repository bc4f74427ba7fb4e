"""What a step of a training holds in memory, by the compiler's account: nothing is trained."""

from __future__ import annotations

from stablessm.measurements.base import Measurement, Variable
from stablessm.measurements.comparison import AXES_OF_TRAININGS, ComparisonSettings

STEP_MEMORY = Measurement(
    name="step_memory",
    summary="bytes that the compiled training step of a network holds, by task, model and length; nothing is trained",
    reference="Gupta, Mehta and Berant, DLR (2022), Table 2",
    axes={name: values for name, values in AXES_OF_TRAININGS.items() if name != "seed"},
    settings=ComparisonSettings,
    variables=lambda _: {
        "step_memory": Variable("memory of a training step, infinite where the compiler does not say", units="B"),
        "parameters": Variable("number of parameters", dtype="int32"),
    },
    program="stablessm.measurements.step_memory_program:step_memory",
    trains_networks=True,
)
