"""The programs of a sweep: built for each static combination, compiled ahead of time by a few threads.

Where a measurement allows it, combinations that differ in the map alone share one compiled program.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any

import jax
import numpy as np

from stablessm.measurements.base import Measurement, Program
from stablessm.measurements.compiling import compiled, compiled_bytes
from stablessm.parameterizations.grammar import CHOICE
from stablessm.sweeps.axes import AXES
from stablessm.sweeps.device import computing
from stablessm.sweeps.errors import SweepError, first_line
from stablessm.sweeps.layout import Layout
from stablessm.sweeps.memory import least_bytes, memory_of, refuse_too_large
from stablessm.sweeps.pieces import in_pieces, sharing, spread
from stablessm.sweeps.plan import Plan, WorkItem
from stablessm.sweeps.starts import Starts
from stablessm.sweeps.threads import Compilers

_CHOICE = f"constant_{CHOICE}"


class Programs:
    """Builds and compiles the static combinations of a plan; use as a context manager.

    XLA compiles outside Python's lock, so a few threads use a few cores. A combination that fails to build or compile
    keeps its exception, and raises it when its work item runs.
    """

    def __init__(self, plan: Plan, measurement: Measurement, *devices: jax.Device) -> None:
        """Prepare, without building anything.

        Args:
            plan: the work.
            measurement: what makes the programs.
            *devices: where they run: as many as share the cells of a work item evenly.
        """
        self.plan, self.device, self.devices = plan, devices[0], sharing(devices, plan.spec.chunk)
        self._measurement = measurement
        self._settings = measurement.settings(**plan.spec.settings)
        self._built: dict[int, Program | Exception] = {}
        self._served: dict[int, tuple[int, ...]] = {}
        self._parted: set[int] = set()
        self._traced: dict[tuple[int, ...], Any] = {}
        self._compiled: dict[tuple[tuple[int, ...], int], Future[Callable[..., Any]]] = {}
        self._fits: dict[tuple[int, ...], int] = {}  # cells at a time, where memory ran out for all of a work item
        self._pool = Compilers(max(1, min(8, os.cpu_count() or 1)))
        self._starts = Starts(plan.starts, self._pool, self.device.platform)

    def __enter__(self) -> Programs:
        """Return the programs themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop what is not compiled yet."""
        self._pool.close()

    def build(self, combination: int) -> Program:
        """Return the program of a static combination, built once.

        Raises:
            Exception: whatever the measurement raised.
        """
        if combination not in self._built:
            try:
                with computing(self.device, self.plan.precision(combination)):
                    self._built[combination] = self._measurement.build(self.plan.static(combination), self._settings)
            except Exception as error:
                self._built[combination] = error
        built = self._built[combination]
        if isinstance(built, Exception):
            raise built
        return built

    def working(self, combinations: Sequence[int]) -> list[int]:
        """Return those of the static combinations that build, in groups that share a start.

        Raises:
            ValueError: what a measurement raised, where that is a finished sentence about the declaration.
        """
        groups: dict[Any, list[int]] = {}
        for combination in combinations:
            try:
                start = self.build(combination).start
            except ValueError:  # a finished sentence about the declaration: nothing of it runs
                raise
            except Exception:  # kept, and raised again when its work items run
                continue
            groups.setdefault((start, self.plan.precision(combination)), []).append(combination)
        return [combination for group in groups.values() for combination in group]

    def coordinates(self) -> list[Mapping[str, Any]]:
        """Return the inner coordinates of every static combination that builds.

        Raises:
            ValueError: as `working`; or none of them builds.
        """
        working = self.working(range(len(self.plan.combinations)))
        if not working:
            try:
                self.build(0)
            except Exception as error:
                raise SweepError(f"no part of this sweep can be built: {first_line(error)}") from error
        return [self.build(combination).coordinates for combination in working]

    def check_memory(self, combinations: Sequence[int]) -> None:
        """Refuse work items that cannot be held: the largest of the static combinations is traced, and kept for later.

        Args:
            combinations: those that build, as `working` returns them.

        Raises:
            SweepError: a work item needs more memory than there is.
        """
        if not combinations:
            return
        served = self.served(self.largest(combinations))
        try:
            self._traced[served] = self._trace(served, self.plan.spec.chunk)
        except Exception:  # raised again when its work items run
            return
        self._refuse_too_large(least_bytes(self._traced[served].jaxpr), self.plan.spec.chunk)

    def largest(self, combinations: Sequence[int]) -> int:
        """Return the static combination whose cells take most memory, by its sizes and precision."""
        return max(combinations, key=self._size)

    def _refuse_too_large(self, needed: int, cells: int) -> None:
        spec = self.plan.spec
        sizes = [name for name in spec.static_axes if AXES[name].kind == "integer"]
        settings = [name for name, value in spec.settings.items() if type(value) is int]
        refuse_too_large(
            f"one work item of {cells} cell{'s' * (cells > 1)}",
            needed,
            memory_of(self.device),
            smaller=["chunk", *sizes, *settings],
        )

    def _size(self, combination: int) -> tuple[int, str]:
        values = self.plan.combinations[combination].items()
        return math.prod(value for name, value in values if AXES[name].kind == "integer"), self.plan.precision(
            combination
        )

    def served(self, combination: int) -> tuple[int, ...]:
        """Return the static combinations that share one program with this one, itself among them.

        They differ in the map alone, and all of them build. On a GPU every map has a program of its own: a conditional
        in a loop would make the device wait for the host.
        """
        if self._alone(combination):
            return (combination,)
        if combination not in self._served:
            for family in self.plan.families:
                working = tuple(one for one in family if not self._alone(one) and self._builds(one))
                self._served |= dict.fromkeys(working, working)
        return self._served.get(combination, (combination,))

    def _alone(self, combination: int) -> bool:
        return not self._measurement.joins_maps or self.device.platform != "cpu" or combination in self._parted

    def _builds(self, combination: int) -> bool:
        try:
            self.build(combination)
        except Exception:  # raised again when its work items run
            return False
        return True

    def compile(self, combination: int, cells: int | None = None) -> Future[Callable[..., Any]]:
        """Start to compile the program of a static combination, once.

        Args:
            combination: which.
            cells: how many it computes at a time; by default what is known to fit, all of a work item at first.

        Returns:
            A future of (traced, starts, index, *shared) -> results.
        """
        served = self.served(combination)
        key = served, cells or self._fits.get(served, self.plan.spec.chunk)
        if key not in self._compiled:
            self._compiled[key] = self._pool.submit(self._compile, *key)
        return self._compiled[key]

    def run(self, item: WorkItem, layout: Layout) -> tuple[dict[str, np.ndarray], int]:
        """Compute one work item, in halves where the memory is too small for it.

        Args:
            item: which.
            layout: the variables it must return.

        Returns:
            For each variable an array of shape (chunk, *inner), padded with fill values where this combination has
            fewer points along an inner dimension; and in how many pieces they were computed.

        Raises:
            Exception: whatever the measurement, the compiler or the device raised.
        """
        served, program = self.served(item.combination), self.build(item.combination)
        self.compile(item.combination)
        with computing(self.device, self.plan.precision(item.combination)):
            starts, hashes = self._starts.get(program.start, item.seeds)  # while the pool compiles
            try:
                measured = in_pieces(
                    lambda cells: self.compile(item.combination, cells).result(),
                    self._fits.get(served, self.plan.spec.chunk),
                    self._arguments(served, item),
                    starts,
                    item.index,
                    program.shared,
                )
            except Exception:
                if len(served) == 1:
                    raise
                self._parted.update(served)  # one map's trouble is not the others'
                return self.run(item, layout)
            self._fits[served], results = measured.size, measured.results
            if "start_hash" in layout.variables:
                results["start_hash"] = hashes[item.index]
            fitted = {name: _fit(name, results, layout, len(item.index)) for name in layout.variables}
            return fitted, measured.pieces

    def _arguments(self, served: tuple[int, ...], item: WorkItem) -> dict[str, np.ndarray]:
        """Return the traced axes of an item as its program takes them."""
        if len(served) == 1:
            return dict(item.traced)
        unused = np.ones(len(item.index), self.plan.precision(item.combination))  # constants that other maps have
        known = {name: item.traced.get(name, unused) for name in self.plan.spec.traced_axes}
        return {**known, _CHOICE: np.int32(served.index(item.combination))}

    def _compile(self, served: tuple[int, ...], cells: int) -> Callable[..., Any]:
        whole = cells == self.plan.spec.chunk
        traced = (whole and self._traced.pop(served, None)) or self._trace(served, cells)
        with computing(self.device, self.plan.precision(served[0])):
            program = compiled(traced.lower(), self.device.platform, thorough=self._measurement.trains_networks)
        of_host = len(sharing(self.devices, cells)) if self.device.platform == "cpu" else 1  # they share its memory
        self._refuse_too_large(of_host * compiled_bytes(program), cells)  # sooner than the system ends the process
        return program

    def _trace(self, served: tuple[int, ...], cells: int) -> Any:
        program, item = self.build(served[0]), self.plan.item(self.plan.numbers[served[0]][0])
        with computing(self.device, self.plan.precision(served[0])):
            if len(served) > 1:
                program = self._measurement.build(self.plan.joint(served), self._settings)
            shapes, arguments = self._starts.shapes(program.start), self._arguments(served, item)
            mapped = {name: None if name == _CHOICE else 0 for name in arguments}
            over = jax.vmap(program.measure, in_axes=(mapped, None, 0, *(None,) * len(program.shared)))
            some = {name: one[:1].repeat(cells) if one.ndim else one for name, one in arguments.items()}
            traced, index, shared = jax.tree.map(
                lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype),
                (some, item.index[:1].repeat(cells), program.shared),
            )
            over = spread(over, sharing(self.devices, cells), traced, len(shared))
            return jax.jit(over).trace(traced, shapes, index, *shared)


def _fit(name: str, results: dict[str, Any], layout: Layout, cells: int) -> np.ndarray:
    """Bring one result to the host, in the shape and dtype of the layout."""
    if name not in results:
        raise ValueError(f"the measurement returned no variable {name!r}")
    values, blank = np.asarray(results[name]), layout.blank(name, cells)
    if values.ndim != blank.ndim or any(have > room for have, room in zip(values.shape, blank.shape, strict=True)):
        raise ValueError(f"the measurement returned {name!r} with shape {values.shape[1:]}, declared {blank.shape[1:]}")
    if np.iscomplexobj(values) and not np.iscomplexobj(blank):
        raise ValueError(f"the measurement returned {name!r} complex, declared {blank.dtype}")
    blank[tuple(slice(size) for size in values.shape)] = values
    return blank
