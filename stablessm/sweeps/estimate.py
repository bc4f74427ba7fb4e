"""What a sweep would cost, measured on its first work item where that is short; nothing is written."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

from stablessm.sweeps.device import choose_device, enable_compilation_cache
from stablessm.sweeps.fitting import largest_chunk
from stablessm.sweeps.layout import Layout, join_coordinates, variables_of
from stablessm.sweeps.plan import Plan

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement


class Estimate(NamedTuple):
    """Costs of a sweep.

    Attributes:
        compiles: programs to compile.
        compile_seconds: to compile one of them.
        item_seconds: to compute one work item; None where it was not run.
        total_seconds: for the whole sweep, compiling on `cores` at once; None where no work item was run.
        stored_bytes: of all variables, uncompressed.
        held_bytes: by the largest program; None where the compiler does not say.
        memory_bytes: of the device.
        largest_chunk: cells of a work item that the memory surely holds; None where the compiler does not say.
        device: what was measured on.
    """

    compiles: int
    compile_seconds: float
    item_seconds: float | None
    total_seconds: float | None
    stored_bytes: int
    held_bytes: int | None
    memory_bytes: int
    largest_chunk: int | None
    device: str


def estimate(plan: Plan, measurement: Measurement, *, device: str = "auto", cores: int = 1) -> Estimate:
    """Compile the program of the first static combination, compute its first work item, and scale up.

    A work item that trains networks is compiled and not run.

    Args:
        plan: the work.
        measurement: what makes its programs.
        device: "auto", "cpu" or "gpu".
        cores: compilations that run side by side.

    Raises:
        SweepError: no such device, or not enough memory.
        Exception: whatever the measurement raises.
    """
    chosen = choose_device(device)
    enable_compilation_cache()
    from stablessm.sweeps.memory import compiled_bytes, memory_of, refuse_too_large_dataset
    from stablessm.sweeps.programs import Programs

    spec = plan.spec
    variables = variables_of(spec, measurement.variables(measurement.settings(**spec.settings)))
    with Programs(plan, measurement, chosen) as programs:
        layout = Layout(variables, join_coordinates([programs.build(0).coordinates], variables))
        working = programs.working(range(len(plan.combinations)))
        programs.check_memory(working)
        refuse_too_large_dataset(plan, layout)
        began = time.perf_counter()
        programs.compile(0).result()
        compiled = time.perf_counter()
        if not measurement.trains_networks:
            programs.run(plan.item(0), layout)
        ended = time.perf_counter()
        held = programs.compile(programs.largest(working)).result()
        compiles = len({programs.served(combination) for combination in working})
    item, compiling = None if measurement.trains_networks else ended - compiled, compiled - began
    needed, memory = compiled_bytes(held), memory_of(chosen)
    return Estimate(
        compiles=compiles,
        compile_seconds=compiling,
        item_seconds=item,
        total_seconds=None if item is None else item * plan.items + compiling * math.ceil(compiles / max(1, cores)),
        stored_bytes=plan.items * spec.chunk * layout.cell_bytes,
        held_bytes=needed or None,
        memory_bytes=memory,
        largest_chunk=largest_chunk(plan, needed, memory),
        device=f"{chosen.platform} {chosen.device_kind}",
    )
