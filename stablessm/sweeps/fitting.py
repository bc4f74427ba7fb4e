"""The size of work items fitted to a device (`chunk = "auto"`): what one needs, against the memory there is.

On a GPU a work item is as large as the memory holds, up to all cells of a static combination. On a CPU it is no larger
than by default: what leaves the cache takes longer and not shorter, and a kill costs a work item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stablessm.sweeps.device import choose_devices, enable_compilation_cache
from stablessm.sweeps.executors import Hiring
from stablessm.sweeps.executors.pinning import cores, share_memory
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.spec import Spec

if TYPE_CHECKING:
    import jax

    from stablessm.measurements.base import Measurement

MOST_CHUNK = 10**6
_PART = 0.8  # of the memory; the rest is for the starts, the results and whatever else is in it


def fitted(spec: Spec, measurement: Measurement, *, device: str = "auto", hiring: Hiring | None = None) -> Spec:
    """Return a sweep whose work items are fitted to a device, where it leaves their size to be found; else itself.

    Args:
        spec: the sweep; what its `chunk` says is a first guess.
        measurement: what makes its programs.
        device: "auto", "cpu" or "gpu".
        hiring: who will compute; this process by default. What others have cannot be seen from here: then a work item
            is no larger than by default, and fits into this machine's memory beside those of as many workers.

    Raises:
        SweepError: no such device, or a memory that does not hold a single cell.
    """
    if spec.chunk_from != "auto":
        return spec
    here = hiring is None or hiring.here
    workers = 1 if here else hiring.workers or cores()
    if not here:
        share_memory()  # before JAX starts: this process plans, the workers compute
    devices = choose_devices(device if here else "cpu")
    enable_compilation_cache()
    from stablessm.sweeps.memory import is_out_of_memory

    chunk = spec.chunk
    while True:
        plan = Plan(spec.model_copy(update={"chunk": chunk}))
        try:
            fits = _most_cells(plan, measurement, devices, workers)
            break
        except Exception as error:
            if chunk == 1 or not is_out_of_memory(error):
                raise
            chunk = -(-chunk // 2)
    if fits is not None:
        chunk = min(fits, chunk) if devices[0].platform == "cpu" else min(fits, MOST_CHUNK)
    return spec.model_copy(update={"chunk": chunk, "chunk_from": "user"})


def _most_cells(plan: Plan, measurement: Measurement, devices: Sequence[jax.Device], workers: int) -> int | None:
    """Return how many cells of the largest static combination fit; None where its program or compiler does not say."""
    from stablessm.sweeps.memory import compiled_bytes, is_out_of_memory, memory_of
    from stablessm.sweeps.programs import Programs

    with Programs(plan, measurement, devices[0]) as programs:
        working = programs.working(range(len(plan.combinations)))
        if not working:
            return None
        programs.check_memory(working)
        try:
            compiled = programs.compile(programs.largest(working)).result()
        except Exception as error:  # what cannot be compiled fails when its work items run
            if is_out_of_memory(error):
                raise
            return None
        one = largest_chunk(plan, compiled_bytes(compiled), memory_of(devices[0]) // workers)
    of_host = devices[0].platform == "cpu"  # they share its memory
    return one if one is None or of_host else min(plan.cells_per_combination, one * len(devices))


def largest_chunk(plan: Plan, needed: int, there: int) -> int | None:
    """Return the cells of a work item that take most of the memory, no more than a combination has.

    Args:
        plan: the work.
        needed: bytes of a work item as large as it is now, all of them counted as growing with it.
        there: bytes of memory.
    """
    if not needed:
        return None
    return max(1, min(plan.cells_per_combination, int(_PART * there / needed * plan.spec.chunk)))
