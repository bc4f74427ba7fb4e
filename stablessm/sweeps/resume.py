"""What lies where a sweep is to go: the same sweep, one it has grown from, another one, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stablessm import datasets
from stablessm.sweeps import stores
from stablessm.sweeps.carry import Part, part_of_dataset, part_of_store
from stablessm.sweeps.declarations import load_spec, spec_from_json
from stablessm.sweeps.errors import SpecError, StoreError, another_sweep
from stablessm.sweeps.growth import grown, in_the_way, places_in, with_chunk_of
from stablessm.sweeps.header import Header, read_header
from stablessm.sweeps.layout import DONE, variables_of
from stablessm.sweeps.plan import Plan
from stablessm.sweeps.spec import Spec, difference
from stablessm.sweeps.store import Store

if TYPE_CHECKING:
    from stablessm.measurements.base import Measurement, Variable


class Found(NamedTuple):
    """What a run begins with.

    Attributes:
        plan: its work; of the sweep asked for, in work items of the size of what is there.
        store: of this very sweep; None where there is none yet.
        part: what is done of a sweep that this one has grown from; None where there is none.
        source: the store that the part is of, which is to be replaced; None where it is of a dataset.
        removed: whether a store is there that has to go first.
        saved: attributes of the dataset that is there.
        mended: numbers of work items that had been cut short.
    """

    plan: Plan
    store: Store | None = None
    part: Part | None = None
    source: Store | None = None
    removed: bool = False
    saved: Mapping[str, Any] | None = None
    mended: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether there is nothing to compute and nothing to save."""
        return self.saved is not None and self.saved.get("spec") == self.plan.spec.to_json() and self.computed

    @property
    def computed(self) -> bool:
        """Whether there is nothing to compute."""
        return self.store is not None and bool((self.store.status() == DONE).all())


def look(
    spec: Spec, path: Path, folder: Path, measurements: Mapping[str, Measurement], *, fresh: bool = False
) -> Found:
    """Look for the dataset and the store of a sweep, or of one that it has grown from.

    Args:
        spec: the sweep asked for.
        path: file of its dataset.
        folder: of its store.
        measurements: the registry.
        fresh: True where what is there is to be replaced: it only has to be a sweep.

    Raises:
        StoreError: the store is damaged, foreign, in use, or of another sweep, or the dataset is.
        DatasetError: the file is damaged or foreign.
    """
    stores.recover(folder)
    saved = datasets.refuse_foreign(path)
    there = folder.exists() or folder.is_symlink()
    if fresh:
        if there:
            read_header(folder)
        return Found(Plan(spec), removed=there, saved=saved)
    old = _spec_of(saved, measurements) if saved is not None else None
    if there:
        header = read_header(folder)
        before = None if header.digest == spec.digest else _loaded(header.spec, measurements)
        spec = _like(before, spec)
        _refuse_other(path, saved, old, spec)
        if before is not None and (lines := in_the_way(before, spec)):
            raise another_sweep(folder, lines)
        if before is not None and places_in(before, spec) is not None:
            return _grown_from_store(folder, before, spec, saved, measurements)
        return _same(Found(Plan(spec), saved=saved), folder, header, measurements)
    spec = _like(old, spec)
    _refuse_other(path, saved, old, spec)
    if saved is None or old is None or old.digest == spec.digest:  # the same one is computed, to be reproduced
        return Found(Plan(spec), saved=saved)
    part = part_of_dataset(str(path), datasets.load(path), Plan(old), variables(old, measurements))
    return Found(grown(spec, [part.plan]), part=part, saved=saved)


def variables(spec: Spec, measurements: Mapping[str, Measurement]) -> dict[str, Variable]:
    """Return the variables that a sweep stores."""
    measurement = measurements[spec.measurement]
    return variables_of(spec, measurement.variables(measurement.settings(**spec.settings)))


def _same(found: Found, folder: Path, header: Header, measurements: Mapping[str, Measurement]) -> Found:
    store = stores.open_store(folder, found.plan.spec, variables(found.plan.spec, measurements), header)
    found = found._replace(plan=store.plan, store=store)
    try:
        if found.complete and not store.lost():
            return found
    except StoreError:  # what is cut short is mended, what is damaged is named again
        pass
    with stores.locked(folder):
        return found._replace(mended=tuple(store.mend()))


def _grown_from_store(
    folder: Path, old: Spec, spec: Spec, saved: Mapping[str, Any] | None, measurements: Mapping[str, Measurement]
) -> Found:
    store = stores.open_store(folder, old, variables(old, measurements))
    with stores.locked(folder):
        mended = tuple(store.mend())
        part = part_of_store(store)
        return Found(grown(spec, [store.plan]), part=part, source=store, saved=saved, mended=mended)


def _like(old: Spec | None, spec: Spec) -> Spec:
    """Take the size of work items from a sweep that this one has grown from."""
    return spec if old is None or places_in(old, spec) is None else with_chunk_of(old, spec)


def _loaded(document: Mapping[str, object], measurements: Mapping[str, Measurement]) -> Spec | None:
    try:
        return load_spec(document, measurements=measurements)
    except SpecError:  # of another version
        return None


def _spec_of(saved: Mapping[str, Any], measurements: Mapping[str, Measurement]) -> Spec | None:
    try:
        return spec_from_json(saved.get("spec", ""), measurements=measurements)
    except SpecError:  # a dataset, but not of a sweep, or of another version
        return None


def _refuse_other(path: Path, saved: Mapping[str, Any] | None, old: Spec | None, spec: Spec) -> None:
    """Refuse a dataset of another sweep than the one asked for and those it has grown from."""
    if saved is None:
        return
    if old is not None and old.chunk == spec.chunk and places_in(old, spec) is not None:
        return
    try:
        other = dict(json.loads(saved["spec"]))
    except (KeyError, TypeError, ValueError, RecursionError):
        other = {}
    lines = (old and in_the_way(old, spec)) or difference(other, spec.document())
    if lines:
        raise another_sweep(path, lines)
