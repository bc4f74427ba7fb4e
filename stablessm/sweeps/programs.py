"""The programs of a sweep: built one a static combination, compiled ahead of time by a few threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

import jax
import numpy as np

from stablessm.measurements.base import Measurement, Program
from stablessm.sweeps.axes import AXES
from stablessm.sweeps.device import computing
from stablessm.sweeps.errors import SweepError, first_line
from stablessm.sweeps.layout import Layout
from stablessm.sweeps.memory import compiled_bytes, least_bytes, memory_of, refuse_too_large
from stablessm.sweeps.plan import Plan, WorkItem
from stablessm.sweeps.starts import Starts


class Programs:
    """Builds and compiles the static combinations of a plan; use as a context manager.

    XLA compiles outside Python's lock, so a few threads use a few cores. A combination that fails to build or compile
    keeps its exception, and raises it when its work item runs.
    """

    def __init__(self, plan: Plan, measurement: Measurement, device: Any) -> None:
        """Prepare, without building anything.

        Args:
            plan: the work.
            measurement: what makes the programs.
            device: where they run.
        """
        self.plan, self.device = plan, device
        self._measurement = measurement
        self._settings = measurement.settings(**plan.spec.settings)
        self._built: dict[int, Program | Exception] = {}
        self._traced: dict[int, Any] = {}
        self._compiled: dict[int, Future[Callable[..., Any]]] = {}
        self._starts = Starts(plan.starts)
        self._pool = ThreadPoolExecutor(max(1, min(8, os.cpu_count() or 1)), "compile")

    def __enter__(self) -> Programs:
        """Return the programs themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop what is not compiled yet."""
        self._pool.shutdown(wait=False, cancel_futures=True)

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
        largest = max(combinations, key=self._size)
        try:
            self._traced[largest] = self._trace(largest)
        except Exception:  # raised again when its work items run
            return
        self._refuse_too_large(least_bytes(self._traced[largest].jaxpr))

    def _refuse_too_large(self, needed: int) -> None:
        spec = self.plan.spec
        sizes = [name for name in spec.static_axes if AXES[name].kind == "integer"]
        settings = [name for name, value in spec.settings.items() if type(value) is int]
        refuse_too_large(
            f"one work item of {spec.chunk} cells",
            needed,
            memory_of(self.device),
            smaller=["chunk", *sizes, *settings],
        )

    def _size(self, combination: int) -> tuple[int, str]:
        values = self.plan.combinations[combination].items()
        return math.prod(value for name, value in values if AXES[name].kind == "integer"), self.plan.precision(
            combination
        )

    def compile(self, combination: int) -> Future[Callable[..., Any]]:
        """Start to compile a static combination, once; the future holds (traced, starts, index, *shared) -> results."""
        if combination not in self._compiled:
            self._compiled[combination] = self._pool.submit(self._compile, combination)
        return self._compiled[combination]

    def run(self, item: WorkItem, layout: Layout) -> dict[str, np.ndarray]:
        """Compute one work item.

        Args:
            item: which.
            layout: the variables it must return.

        Returns:
            For each variable an array of shape (chunk, *inner), padded with fill values where this combination has
            fewer points along an inner dimension.

        Raises:
            Exception: whatever the measurement, the compiler or the device raised.
        """
        program, compiled = self.build(item.combination), self.compile(item.combination)
        with computing(self.device, self.plan.precision(item.combination)):
            starts, hashes = self._starts.get(program.start, item.seeds)  # while the pool compiles
            run = compiled.result()
            results = dict(run(dict(item.traced), starts, item.index, *program.shared))
            if "start_hash" in layout.variables:
                results["start_hash"] = hashes[item.index]
            return {name: _fit(name, results, layout, len(item.index)) for name in layout.variables}

    def _compile(self, combination: int) -> Callable[..., Any]:
        traced = self._traced.pop(combination, None) or self._trace(combination)
        with computing(self.device, self.plan.precision(combination)):
            compiled = traced.lower().compile()
        self._refuse_too_large(compiled_bytes(compiled))  # sooner than the system ends the process
        return compiled

    def _trace(self, combination: int) -> Any:
        program, item = self.build(combination), self.plan.item(self.plan.numbers[combination][0])
        with computing(self.device, self.plan.precision(combination)):
            shapes = self._starts.shapes(program.start)
            mapped = jax.jit(jax.vmap(program.measure, in_axes=(0, None, 0, *(None,) * len(program.shared))))
            traced, index, shared = jax.tree.map(
                lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype),
                (dict(item.traced), item.index, program.shared),
            )
            return mapped.trace(traced, shapes, index, *shared)


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
