"""A work item as a pure function of an order and a number, the same in this process and in any other.

An order is all a worker needs to know: the header of the store (which holds the sweep and its layout), and where to
compute. What it returns are the results themselves: a few kB, written by the one process that owns the store. So no
chunk ever has two writers, also where a cluster runs a task twice, and workers need not see the store's disk.

Importing this module loads no array library, so that a worker's threads and memory are set before JAX comes in.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from stablessm.sweeps.errors import SweepError, first_line

if TYPE_CHECKING:
    import numpy as np

    from stablessm.measurements.base import Measurement
    from stablessm.sweeps.header import Header
    from stablessm.sweeps.layout import Layout
    from stablessm.sweeps.plan import Plan
    from stablessm.sweeps.programs import Programs

_INHERITED = ("STABLESSM_DATA", "JAX_COMPILATION_CACHE_DIR")
_BUSY = threading.Lock()
_latest: list[tuple[tuple[str, str], Worker]] = []


class Answer(NamedTuple):
    """What came of one work item.

    Attributes:
        number: its number.
        results: for each variable an array of shape (chunk, *inner); None where it failed.
        reason: why it failed.
        pieces: in how many it was computed: more than 1 where memory ran out.
        device: what computed it.
    """

    number: int
    results: dict[str, np.ndarray] | None
    reason: str = ""
    pieces: int = 1
    device: str = ""


@dataclass(frozen=True)
class Order:
    """What to compute, as text and small records.

    Attributes:
        header: JSON of the store's header.
        device: "auto", "cpu" or "gpu".
        measurement: what to measure; None for the package's own, looked up by the name in the header.
        environment: variables of this process that decide where data and caches are.
    """

    header: str
    device: str
    measurement: Measurement | None = None
    environment: tuple[tuple[str, str], ...] = field(
        default_factory=lambda: tuple((name, os.environ[name]) for name in _INHERITED if name in os.environ)
    )


def ordered(header: Header, measurement: Measurement, device: str, *, pickled: bool) -> Order:
    """Return the order of a sweep.

    Args:
        header: of its store.
        measurement: what to measure.
        device: "auto", "cpu" or "gpu".
        pickled: whether it has to be sent to processes as `pickle` sends it.

    Raises:
        SweepError: a measurement of the caller's own that cannot be sent.
    """
    from stablessm.measurements import MEASUREMENTS

    own = MEASUREMENTS.get(measurement.name) is not measurement
    if own and pickled:
        try:
            pickle.dumps(measurement)
        except Exception as error:
            raise SweepError(
                f"the measurement '{measurement.name}' cannot be sent to other processes ({error}): define its "
                "functions at the top of a module that they can import, or use the executor local."
            ) from None
    return Order(header.model_dump_json(), device, measurement if own else None)


class Worker:
    """Computes the work items of one sweep in this process."""

    def __init__(self, plan: Plan, programs: Programs, layout: Layout) -> None:
        """Remember what the items are made of."""
        self.plan, self.programs, self.layout = plan, programs, layout

    def answer(self, numbers: Sequence[int]) -> list[Answer]:
        """Compute work items; one that raises is an answer with a reason."""
        return [self._one(number) for number in numbers]

    def _one(self, number: int) -> Answer:
        device, count = self.programs.device, len(self.programs.devices)
        device = f"{device.platform} {device.device_kind}" + (f" x {count}" if count > 1 else "")
        try:
            results, pieces = self.programs.run(self.plan.item(number), self.layout)
        except Exception as error:
            return Answer(number, None, first_line(error), device=device)
        return Answer(number, results, pieces=pieces, device=device)


def answer(order: Order, numbers: Sequence[int]) -> list[Answer]:
    """Compute work items of an order; what it compiled is kept for the next call with the same order.

    Args:
        order: the sweep.
        numbers: of the work items.

    Raises:
        SweepError: nothing of it can run here: no such device, or another version of the package.
        SpecError: a file it reads is not here, or has changed.
    """
    with _BUSY:  # a worker of several threads computes one item at a time: their memory would add up
        return _worker(order).answer(numbers)


def _worker(order: Order) -> Worker:
    key = order.header, order.device
    if not _latest or _latest[0][0] != key:
        _latest[:] = [(key, _new_worker(order))]
    return _latest[0][1]


def _new_worker(order: Order) -> Worker:
    from stablessm.sweeps.executors.pinning import pin

    for name, value in order.environment:
        os.environ.setdefault(name, value)
    pin()
    from stablessm.sweeps.declarations import load_spec
    from stablessm.sweeps.device import choose_device, enable_compilation_cache
    from stablessm.sweeps.header import Header, layout_of, tables_of
    from stablessm.sweeps.layout import variables_of
    from stablessm.sweeps.plan import Plan
    from stablessm.sweeps.programs import Programs

    header = Header.model_validate_json(order.header)
    measurements = _measurements(order, header.spec)
    spec = load_spec(header.spec, measurements=measurements)
    measurement = measurements[spec.measurement]
    variables = variables_of(spec, measurement.variables(measurement.settings(**spec.settings)))
    if spec.digest != header.digest or tables_of(variables) != header.variables:
        raise SweepError(
            "a worker has another version of stablessm or of the measurement than the process that runs the sweep; "
            "install the same on both."
        )
    device = choose_device(order.device)
    enable_compilation_cache()
    plan = Plan(spec, tuple(header.earlier))
    return Worker(plan, Programs(plan, measurement, device), layout_of(header, variables))


def _measurements(order: Order, document: dict[str, Any]) -> dict[str, Measurement]:
    if order.measurement is not None:
        return {document["measurement"]: order.measurement}
    from stablessm.measurements import MEASUREMENTS

    return dict(MEASUREMENTS)
